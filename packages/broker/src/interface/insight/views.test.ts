import { formatTime, resourceVector } from "@resource-broker/base";
import {
  type Advertisement,
  apply,
  DEFAULT_POLICY,
  emptyLedger,
  type Policy,
  type Reservation,
} from "@resource-broker/domain";
import { cluster, NOON as NOW, reservation } from "@resource-broker/domain/testing";
import { describe, expect, test } from "vitest";
import { hasAdvertised } from "../shared/advertised-account.ts";
import { NO_DECISION } from "./testing/arbitrary-ledger.ts";
import { renderCluster } from "./standing.ts";
import { timelineOf } from "./timeline.ts";

const MOMENT = { now: NOW, policy: DEFAULT_POLICY };

const lent = (cpu: number, more: Partial<Reservation> = {}): Reservation =>
  reservation(more, { cpu, memoryGi: 0 });

function ledgerWith(advertised: Partial<Advertisement>, reservations: readonly Reservation[] = [], at = NOW) {
  const ledger = emptyLedger();
  for (const reservation of reservations)
    apply(ledger, { kind: "granted", at: reservation.createdAt, reservation, decision: NO_DECISION });
  const advertisement = cluster("paris", { cpu: 4, memoryGi: 0, allocated: { cpu: 1 }, more: advertised });
  apply(ledger, { kind: "advertised", at, advertisement });
  return ledger;
}

function standingIn(ledger: ReturnType<typeof ledgerWith>, policy: Partial<Policy> = {}) {
  const account = ledger.accounts.get("paris");
  if (!hasAdvertised(account)) throw new Error("paris has not advertised");
  const { standing } = renderCluster(account, { now: NOW, policy: { ...DEFAULT_POLICY, ...policy } });
  if (standing === undefined) throw new Error("it has no standing");
  return standing;
}

describe("the conditions of a cluster", () => {
  test("it lends more than it has left", () => {
    expect(standingIn(ledgerWith({}, [lent(3.5)])).conditions).toEqual([
      { type: "Overcommitted", message: "Its reservations exceed its capacity by 0.5 CPU." },
    ]);
  });

  test("guests use more than was granted", () => {
    const usage = ["rsv-rome-1", "rsv-rome-2"].map((reservationId) => ({
      reservationId,
      granted: resourceVector({ cpuMillis: 1000 }),
      used: resourceVector({ cpuMillis: 1100 }),
    }));
    const ledger = ledgerWith({ usage }, [lent(1), lent(1, { id: "rsv-rome-2" })]);
    expect(standingIn(ledger).conditions).toEqual([
      { type: "Overuse", message: "More is used than was granted: rsv-rome-1 and 1 more." },
    ]);
  });

  test("an admin evicted it", () => {
    const ledger = ledgerWith({});
    const member = { clusterId: "paris", evictedAt: NOW, since: NOW };
    apply(ledger, { kind: "member-evicted", at: NOW, member, by: "ops" });
    expect(standingIn(ledger).conditions).toMatchObject([
      {
        type: "Cordoned",
        message: expect.stringMatching(/^Evicted: calls of this cluster are refused/) as string,
      },
    ]);
  });
});

describe("the price of a cluster", () => {
  const cost = { currency: "EUR", onDemand: { cpuHour: 0.03, memoryGbHour: 0.004, gpuHour: 1.5 } };

  test.each([
    {
      name: "is what it asks",
      advertised: { cost },
      price: { cpu: 0.03, memory: 0.004, gpu: 1.5, currency: "EUR" },
    },
    { name: "is none where it asks nothing", advertised: {}, price: undefined },
    {
      name: "lacks what it does not price",
      advertised: { cost: { currency: "EUR", onDemand: { cpuHour: 0.03 } } },
      price: { cpu: 0.03, currency: "EUR" },
    },
    {
      name: "is converted",
      advertised: { cost: { currency: "USD", onDemand: { cpuHour: 0.04 } } },
      policy: { prices: { ...DEFAULT_POLICY.prices, rates: { USD: 0.5 } } },
      price: { cpu: 0.02, currency: "EUR" },
    },
    {
      name: "is none in a currency without a rate",
      advertised: { cost: { ...cost, currency: "XXX" } },
      price: undefined,
    },
    {
      name: "is the operator's where there is one",
      advertised: { cost },
      policy: {
        prices: {
          ...DEFAULT_POLICY.prices,
          clusters: { paris: { currency: "EUR", onDemand: { cpuHour: 9 } } },
        },
      },
      price: { cpu: 9, currency: "EUR" },
    },
    {
      name: "is that of this hour",
      advertised: {
        cost: {
          currency: "EUR",
          onDemand: { cpuHour: 0.03 },
          windows: [{ name: "noon", fromMinute: 700, toMinute: 800, multiplier: 2 }],
        },
      },
      price: { cpu: 0.06, currency: "EUR" },
    },
  ])("$name", ({ advertised, policy = {}, price }) => {
    expect(standingIn(ledgerWith(advertised), policy).price).toEqual(price);
  });
});

describe("the timeline", () => {
  const texts = (reservation: Reservation, advertised: Partial<Advertisement> = {}, at = NOW): string[] => {
    const ledger = ledgerWith(advertised, [], at);
    const { steps } = timelineOf(reservation, { ...MOMENT, ledger, ledgerId: "led", heldAt: undefined });
    return steps.map(({ step, text }) => `${step}: ${text}`);
  };

  test("of one that nobody has taken up", () => {
    const activateBy = NOW + 60_000;
    expect(texts(lent(1, { activateBy, expiresAt: NOW + 3_600_000 }))).toEqual([
      "requested: rome asked for 1 CPU",
      "reserved: paris was chosen, and 1 CPU locked there",
      "told: paris receives it with its next advertisement",
      "enforced: waits for the acknowledgement of paris",
      `active: waits for rome to use it, until ${formatTime(activateBy)} at the latest`,
      `end: expires ${formatTime(NOW + 3_600_000)}`,
    ]);
  });

  test.each([
    {
      name: "a provider that called since has been told",
      reservation: lent(1),
      at: NOW + 1,
      says: "told: paris received it with its last advertisement",
    },
    {
      name: "an older agent never confirms",
      reservation: lent(1),
      advertised: { protocol: 1 },
      says: "enforced: paris runs an older agent, which does not say so; the ledger keeps it locked",
    },
    {
      name: "one that ended early was never used",
      reservation: lent(1, { phase: "Failed", reason: "ProviderRefused", message: "no room", endedAt: NOW }),
      says: "active: rome never used it",
    },
    {
      name: "the end says why",
      reservation: lent(1, { phase: "Failed", reason: "ProviderRefused", message: "no room", endedAt: NOW }),
      says: "end: ProviderRefused: no room",
    },
    { name: "one without an end", reservation: lent(1), says: "end: lasts until it is released" },
  ])("$name", ({ reservation, advertised = {}, at = NOW, says }) => {
    expect(texts(reservation, advertised, at)).toContain(says);
  });
});

test.each([
  { name: "ended, and its pods are gone", used: 0, says: "has its capacity back" },
  {
    name: "ended, and its pods still run",
    used: 500,
    says: "still runs pods of it: the capacity returns when they are gone",
  },
])("the provider of a reservation that $name", ({ used, says }) => {
  const granted = resourceVector({ cpuMillis: 1000 });
  const usage = [{ reservationId: "rsv-rome-1", granted, used: resourceVector({ cpuMillis: used }) }];
  const ended = lent(1, { phase: "Released", reason: "Expired", endedAt: NOW });
  const ledger = ledgerWith({ usage });
  const timeline = timelineOf(ended, { ...MOMENT, ledger, ledgerId: "led", heldAt: undefined });
  expect(timeline.provider.state).toBe(says);
  expect(timeline.requester).toEqual({ id: "rome", isStale: false, state: "no longer uses it" });
});
