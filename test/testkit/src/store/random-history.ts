import type { Command, Reservation } from "@resource-broker/domain";
import fc from "fast-check";
import { ADMIN, clusterOf, type LedgerDriver, requestFor, reserve } from "./ledger-driver.ts";

const clusterId = fc.constantFrom("rome", "paris", "berlin", "tokyo");
const key = fc.constantFrom("k0", "k1", "k2", "a key with \n \u{1F511} and \u0000");
/** Which of the reservations known so far is meant; wraps around. */
const pick = fc.nat({ max: 20 });
const seconds = fc.integer({ min: 1, max: 200 });

/** What may happen. Deliberately few names and small numbers: collisions are the point. */
const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("advertise" as const),
      clusterId,
      cpu: fc.nat({ max: 24 }),
      pick,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("reserve" as const),
      clusterId,
      key,
      cpu: fc.integer({ min: 1, max: 6 }),
      seconds,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("activate", "acknowledge", "release", "refuse", "renew"),
      pick,
      seconds,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("release-by-key" as const), clusterId, key }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom("cordon" as const, "uncordon" as const), clusterId }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("adopt" as const), clusterId, provider: clusterId, pick }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom("open-adoption" as const, "close-adoption" as const),
      seconds,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("pass" as const),
      seconds: fc.constantFrom(1, 60, 86_400, 90_000),
    }),
  },
);

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** A history: processes that follow each other, each with its batches of actions. */
export const history = fc.array(
  fc.array(fc.array(action, { minLength: 1, maxLength: 6 }), { maxLength: 8 }),
  { maxLength: 4 },
);

/** The command an action stands for in this story, if it makes sense there; moves the clock as a side effect. */
export function commandFor(driver: LedgerDriver, each: Action): Command | undefined {
  switch (each.do) {
    case "advertise":
      return {
        kind: "advertise",
        advertisement: clusterOf(each.clusterId, each.cpu, { usage: usageOf(driver, each.pick) }),
      };
    case "reserve":
      return reserve(each.clusterId, each.key, requestFor(each.cpu, { durationMs: each.seconds * 1000 }));
    case "release-by-key":
      return { kind: "release-by-key", requester: each.clusterId, key: each.key };
    case "cordon":
    case "uncordon":
      return { kind: each.do, by: ADMIN, clusterId: each.clusterId, why: "planned work" };
    case "adopt":
      return adoptFor(each);
    case "open-adoption":
      return { kind: each.do, by: ADMIN, durationMs: each.seconds * 1000 };
    case "close-adoption":
      return { kind: each.do, by: ADMIN };
    case "pass":
      driver.now += each.seconds * 1000;
      return { kind: "expire-due" };
    default:
      return partyCall(picked(driver, each.pick), each);
  }
}

function partyCall(
  reservation: Reservation | undefined,
  each: { readonly do: string; readonly seconds: number },
): Command | undefined {
  if (reservation === undefined) return undefined;
  const { id, requester, provider } = reservation;
  const byRequester = { by: { clusterId: requester, isAdmin: false }, id };
  const byProvider = { by: { clusterId: provider, isAdmin: false }, id };
  switch (each.do) {
    case "activate":
      return { kind: "activate", ...byRequester };
    case "renew":
      return { kind: "renew", ...byRequester, durationMs: each.seconds * 1000 };
    case "acknowledge":
      return { kind: "acknowledge", ...byProvider };
    case "refuse":
      return { kind: "refuse", ...byProvider, why: "no room \ud800 after all" };
    default:
      return { kind: "release", ...byRequester };
  }
}

function adoptFor(each: {
  readonly clusterId: string;
  readonly provider: string;
  readonly pick: number;
}): Command {
  const offer = {
    id: `rsv-${each.clusterId}-adopted-${each.pick % 3}`,
    requester: each.clusterId,
    provider: each.provider,
    granted: requestFor(each.pick % 4).resources,
    phase: "Reserved" as const,
    generation: 1,
    createdAt: 0,
  };
  return { kind: "adopt", by: ADMIN, offer };
}

/** One hold the agent reports, so that ended reservations are retained and live ones overused now and then. */
function usageOf(driver: LedgerDriver, index: number) {
  const reservation = picked(driver, index);
  if (reservation === undefined || index % 2 === 0) return [];
  return [
    { reservationId: reservation.id, granted: reservation.granted, used: requestFor(index % 5).resources },
  ];
}

function picked(driver: LedgerDriver, index: number): Reservation | undefined {
  const all = [...driver.ledger.reservations.values()];
  return all[index % Math.max(1, all.length)];
}
