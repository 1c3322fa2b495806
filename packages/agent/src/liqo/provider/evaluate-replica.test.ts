import { countedResources } from "@resource-broker/accounting";
import { describe, expect, test } from "vitest";
import type { CachedReservation } from "../../reservations/reservation-cache.ts";
import { ended } from "../../testing/samples.ts";
import {
  END_GRACE_MS,
  evaluateReplica,
  type Replica,
  type ReplicaVerdict,
  type ReservationView,
  SETTLE_MS,
} from "./evaluate-replica.ts";
import {
  ASKED,
  acceptedWith,
  aProviderReservation,
  aReplica,
  MALLORY,
  type ReplicaChanges,
  ROME,
} from "./testing/provider-test-environment.ts";

const NOW = Date.parse("2026-07-01T10:00:00Z");
const AT = (ms: number): string => new Date(NOW + ms).toISOString();

interface Case {
  readonly replica?: ReplicaChanges;
  readonly tenancy?: Partial<Omit<Replica, "slice">>;
  readonly entry?: Partial<CachedReservation> | "none";
  readonly view?: Partial<ReservationView>;
  readonly now?: number | "unknown";
}

function evaluated({ replica = {}, tenancy, entry = {}, view, now = NOW }: Case): ReplicaVerdict {
  const known: CachedReservation = {
    role: "provider",
    reservation: aProviderReservation(),
    syncState: "confirmed",
    endedAt: undefined,
    ...(entry === "none" ? {} : entry),
  };
  return evaluateReplica(
    { slice: aReplica(replica), tenant: replica.tenant ?? ROME, isTenantActive: true, ...tenancy },
    {
      entry: entry === "none" ? undefined : known,
      isHeld: true,
      isUnknownToBroker: false,
      unknownForMs: SETTLE_MS,
      terms: { counted: countedResources() },
      ...view,
    },
    now === "unknown" ? undefined : now,
  );
}

describe("a replica is granted", () => {
  const expiring = (expiresAt: string) =>
    aProviderReservation({ status: { phase: "Active", message: "", expiresAt } });
  const rows: readonly (readonly [string, Case])[] = [
    ["when a live reservation of its origin matches", {}],
    ["when it asks for less", { replica: { spec: { resources: { cpu: "1" } } } }],
    ["before its time", { entry: { reservation: expiring(AT(1)) } }],
    ["from memory, while the broker is away", { entry: { syncState: "unconfirmed" } }],
    ["for ever, though the broker has not told its time yet", { now: "unknown" }],
  ];
  test.each(rows)("%s", (_, given) => {
    expect(evaluated(given)).toMatchObject({ kind: "grant" });
  });

  test("exactly what it asks for", () => {
    expect(evaluated({})).toEqual({ kind: "grant", resources: ASKED, message: "reserved for rome" });
  });
});

describe("a replica is left alone", () => {
  const later = { kind: "leave", lookAgainMs: expect.any(Number) as number };
  const rows: readonly (readonly [string, Case, object])[] = [
    ["when it is of Liqo's own class", { replica: { spec: { class: "default" } } }, { kind: "leave" }],
    ["when it is of no class", { replica: { spec: { class: "" } } }, { kind: "leave" }],
    ["when it is of somebody else's class", { replica: { spec: { class: "gold" } } }, { kind: "leave" }],
    [
      "when its consumer is cordoned or drained in Liqo",
      { tenancy: { isTenantActive: false } },
      { kind: "leave" },
    ],
    ["until the capacity is held", { view: { isHeld: false } }, later],
    [
      "until the broker had time to tell of its reservation",
      { entry: "none", view: { unknownForMs: 0 } },
      later,
    ],
    [
      "while nobody knows the broker's time and it has one",
      {
        now: "unknown",
        entry: {
          reservation: aProviderReservation({ status: { phase: "Active", message: "", expiresAt: AT(1) } }),
        },
      },
      later,
    ],
  ];
  test.each(rows)("%s", (_, given, expected) => {
    expect(evaluated(given)).toEqual(expected);
  });

  test("until Liqo has said whose it is", () => {
    const { consumerClusterID: _, ...spec } = aReplica().spec;
    const slice = { ...aReplica(), spec };
    const view = { entry: undefined, isHeld: true, isUnknownToBroker: true, unknownForMs: SETTLE_MS };
    const terms = { counted: countedResources() };
    expect(evaluateReplica({ slice, tenant: ROME, isTenantActive: true }, { ...view, terms }, NOW)).toEqual({
      kind: "leave",
    });
  });
});

describe("a replica is refused", () => {
  const over = ended("Expired", { requesterLiqoID: ROME });
  const rows: readonly (readonly [string, Case, string, string])[] = [
    [
      "that asks for more than reserved",
      { replica: { spec: { resources: { cpu: "5" } } } },
      "TooMuch",
      "cap",
    ],
    [
      "that asks for what is not reserved",
      { replica: { spec: { resources: { gold: "1" } } } },
      "NotReserved",
      "cap",
    ],
    ["that cannot be read", { replica: { spec: { resources: { cpu: "x" } } } }, "UnreadableAmount", "cap"],
    ["that asks for nothing", { replica: { spec: { resources: {} } } }, "NothingAsked", "cap"],
    [
      "that has accepted itself with more, before the capacity is held",
      {
        view: { isHeld: false },
        replica: { status: acceptedWith({ cpu: "64" }), spec: { resources: { cpu: "64" } } },
      },
      "TooMuch",
      "cap",
    ],
    ["of an unknown id", { entry: "none" }, "UnknownReservation", "cordon"],
    [
      "of an id that the broker does not know either",
      { entry: "none", view: { isUnknownToBroker: true, unknownForMs: 0 } },
      "UnknownReservation",
      "revoke",
    ],
    [
      "of an unknown id that somebody has accepted, at once",
      { entry: "none", view: { unknownForMs: 0 }, replica: { status: acceptedWith(ASKED) } },
      "UnknownReservation",
      "cordon",
    ],
    ["of somebody else's reservation", { replica: { tenant: MALLORY } }, "WrongRequester", "revoke"],
    [
      "that says it is rome's in mallory's namespace",
      { replica: { tenant: MALLORY, origin: ROME } },
      "WrongRequester",
      "deny",
    ],
    [
      "whose spec names another consumer than its labels",
      { replica: { tenant: MALLORY, spec: { consumerClusterID: ROME } } },
      "WrongRequester",
      "deny",
    ],
    ["in a namespace of no tenant", { tenancy: { tenant: undefined } }, "WrongRequester", "deny"],
    [
      "whose requester has no Liqo, as far as the broker knows",
      { entry: { reservation: aProviderReservation({ requesterLiqoID: undefined as never }) } },
      "RequesterNotInLiqo",
      "keep",
    ],
    [
      "whose time is over by the broker's clock",
      {
        entry: {
          reservation: aProviderReservation({ status: { phase: "Active", message: "", expiresAt: AT(0) } }),
        },
      },
      "ReservationExpired",
      "keep",
    ],
    [
      "whose reservation has just ended",
      { entry: { reservation: over, endedAt: NOW } },
      "ReservationEnded",
      "keep",
    ],
    [
      "whose reservation ended long enough ago",
      { entry: { reservation: over, endedAt: NOW - END_GRACE_MS } },
      "ReservationEnded",
      "revoke",
    ],
    [
      "whose reservation ended, though the broker has forgotten whose it was",
      { entry: { reservation: ended("RequesterLost"), endedAt: NOW - END_GRACE_MS } },
      "ReservationEnded",
      "revoke",
    ],
    [
      "of mallory after rome's reservation has ended",
      { replica: { tenant: MALLORY }, entry: { reservation: over, endedAt: NOW } },
      "WrongRequester",
      "revoke",
    ],
    [
      "whose reservation has ended, though nobody knows the broker's time",
      { now: "unknown", entry: { reservation: over, endedAt: NOW - END_GRACE_MS } },
      "ReservationEnded",
      "keep",
    ],
  ];
  test.each(rows)("%s", (_, given, reason, consequence) => {
    expect(evaluated(given)).toMatchObject({ kind: "refuse", reason, consequence: { kind: consequence } });
  });

  test("though its consumer has deleted it, and keeps it from going", () => {
    const slice = aReplica({ status: acceptedWith(ASKED) });
    const deleted = { ...slice, metadata: { ...slice.metadata, deletionTimestamp: AT(0) } };
    const entry = { role: "provider", reservation: over, syncState: "confirmed", endedAt: 0 } as const;
    const terms = { counted: countedResources() };
    const view = { entry, isHeld: true, isUnknownToBroker: false, unknownForMs: SETTLE_MS, terms };
    expect(evaluateReplica({ slice: deleted, tenant: ROME, isTenantActive: true }, view, NOW)).toMatchObject({
      kind: "refuse",
      consequence: { kind: "revoke" },
    });
  });

  test("and looked at again when its grace is over", () => {
    const verdict = evaluated({ entry: { reservation: over, endedAt: NOW - 1000 } });
    expect(verdict).toMatchObject({ lookAgainMs: END_GRACE_MS - 1000 });
  });

  test("and capped to what is reserved, when it was accepted with more", () => {
    const status = acceptedWith({ cpu: "64", memory: "1Gi", "nvidia.com/gpu": "8" });
    const verdict = evaluated({ replica: { status, spec: { resources: { cpu: "64" } } } });
    expect(verdict).toMatchObject({ consequence: { kind: "cap", resources: { cpu: "4", memory: "1Gi" } } });
  });
});
