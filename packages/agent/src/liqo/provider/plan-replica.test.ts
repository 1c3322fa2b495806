import { countedResources } from "@resource-broker/accounting";
import { describe, expect, test } from "vitest";
import type { CachedReservation } from "../../reservations/reservation-cache.ts";
import { ended } from "../../testing/samples.ts";
import type { ResourceSlice } from "../objects.ts";
import {
  END_GRACE_MS,
  evaluateReplica,
  type Refusal,
  type ReplicaVerdict,
  type ReservationView,
  SETTLE_MS,
  type Tenancy,
} from "./evaluate-replica.ts";
import { creatorUserOf } from "./liqo-informers.ts";
import { planReplica, type ReplicaPlan, type ReplicaState } from "./plan-replica.ts";
import {
  ASKED,
  AUTHENTICATED,
  acceptedWith,
  aProviderReservation,
  aReplica,
  MALLORY,
  OVER,
  type ReplicaChanges,
  ROME,
} from "./testing/provider-test-environment.ts";

const NOW = Date.parse("2026-07-01T10:00:00Z");
const AT = (ms: number): string => new Date(NOW + ms).toISOString();

interface Case {
  readonly replica?: ReplicaChanges;
  readonly tenancy?: Partial<Tenancy>;
  readonly entry?: Partial<CachedReservation> | "none";
  readonly view?: Partial<ReservationView>;
}

function evaluated({ replica = {}, tenancy, entry = {}, view }: Case): ReplicaVerdict {
  const known: CachedReservation = {
    role: "provider",
    reservation: aProviderReservation(),
    syncState: "confirmed",
    endedAt: undefined,
    ...(entry === "none" ? {} : entry),
  };
  const owner = { tenant: replica.tenant ?? ROME, isTenantActive: true, ...tenancy };
  return evaluateReplica(aReplica(replica), owner, {
    entry: entry === "none" ? undefined : known,
    isHeld: true,
    isUnknownToBroker: false,
    unknownForMs: SETTLE_MS,
    counted: countedResources(),
    now: NOW,
    ...view,
  });
}

/** In words: `grant`, `leave`, `later`, or `TooMuch cap`. */
function said(verdict: ReplicaVerdict): string {
  if ("reason" in verdict) return `${verdict.reason} ${verdict.kind}`;
  return verdict.kind === "leave" && verdict.lookAgainMs !== undefined ? "later" : verdict.kind;
}

const spec = (changes: NonNullable<ReplicaChanges["spec"]>): Case => ({ replica: { spec: changes } });
const asking = (resources: Readonly<Record<string, string>>): Case => spec({ resources });
const expiring = (ms: number): Case => ({
  entry: {
    reservation: aProviderReservation({ status: { phase: "Active", message: "", expiresAt: AT(ms) } }),
  },
});
const endedFor = (ms: number, reservation = OVER): Case => ({ entry: { reservation, endedAt: NOW - ms } });
const NO_TIME = { view: { now: undefined } };
const UNKNOWN: Case = { entry: "none", view: { unknownForMs: 0 } };
const ACCEPTED = { status: acceptedWith(ASKED) };
const DELETED = { metadata: { deletionTimestamp: AT(0), labels: aReplica().metadata.labels ?? {} } };
const nobody = aProviderReservation({ requesterLiqoID: undefined as never });

describe("a replica is judged", () => {
  test.each<[string, Case, string]>([
    ["of a live reservation of its origin", {}, "grant"],
    ["that asks for less", asking({ cpu: "1" }), "grant"],
    ["before its time", expiring(1), "grant"],
    ["known from memory, while the broker is away", { entry: { syncState: "unconfirmed" } }, "grant"],
    ["for ever, though the broker has not told its time yet", NO_TIME, "grant"],

    ["of Liqo's own class", spec({ class: "default" }), "leave"],
    ["whose consumer is cordoned or drained in Liqo", { tenancy: { isTenantActive: false } }, "leave"],
    ["of which Liqo has not said whose it is", spec({ consumerClusterID: undefined as never }), "leave"],
    ["that goes and was never accepted", { replica: DELETED, ...endedFor(END_GRACE_MS) }, "leave"],
    ["without its capacity held", { view: { isHeld: false } }, "later"],
    [
      "accepted as it should be, before the capacity is held",
      { replica: ACCEPTED, view: { isHeld: false } },
      "later",
    ],
    ["whose reservation the broker had no time to tell", UNKNOWN, "later"],
    ["that has a time while nobody knows the broker's", { ...expiring(1), ...NO_TIME }, "later"],

    ["that asks for more than reserved", asking({ cpu: "5" }), "TooMuch cap"],
    [
      "that accepted itself with more, before the capacity is held",
      { view: { isHeld: false }, replica: { ...ACCEPTED, spec: { resources: { cpu: "64" } } } },
      "TooMuch cap",
    ],
    ["of an unknown id", { entry: "none" }, "UnknownReservation cordon"],
    [
      "of an id that the broker does not know either",
      { entry: "none", view: { isUnknownToBroker: true, unknownForMs: 0 } },
      "UnknownReservation revoke",
    ],
    [
      "of an unknown id that is accepted, at once",
      { ...UNKNOWN, replica: ACCEPTED },
      "UnknownReservation cordon",
    ],
    ["of somebody else's reservation", { replica: { tenant: MALLORY } }, "WrongRequester revoke"],
    ["that says it is rome's", { replica: { tenant: MALLORY, origin: ROME } }, "WrongRequester deny"],
    [
      "whose spec names another consumer than its labels",
      { replica: { tenant: MALLORY, spec: { consumerClusterID: ROME } } },
      "WrongRequester deny",
    ],
    ["in a namespace of no tenant", { tenancy: { tenant: undefined } }, "WrongRequester deny"],
    ["whose requester has no Liqo", { entry: { reservation: nobody } }, "RequesterNotInLiqo keep"],
    ["whose time is over by the broker's clock", expiring(0), "ReservationExpired keep"],
    ["whose reservation has just ended", endedFor(0), "ReservationEnded keep"],
    ["whose reservation ended long enough ago", endedFor(END_GRACE_MS), "ReservationEnded revoke"],
    [
      "whose consumer has deleted it, and keeps it from going",
      { replica: { ...ACCEPTED, ...DELETED }, ...endedFor(END_GRACE_MS) },
      "ReservationEnded revoke",
    ],
    [
      "whose reservation ended, though the broker has forgotten whose it was",
      endedFor(END_GRACE_MS, ended("RequesterLost")),
      "ReservationEnded revoke",
    ],
    [
      "of mallory after rome's has ended",
      { replica: { tenant: MALLORY }, ...endedFor(0) },
      "WrongRequester revoke",
    ],
    [
      "that has ended, in an unknown time",
      { ...NO_TIME, ...endedFor(END_GRACE_MS) },
      "ReservationEnded keep",
    ],
  ])("%s", (_, given, expected) => {
    expect(said(evaluated(given))).toBe(expected);
  });

  test("with exactly what it asks for, or at most what is reserved, and in time again", () => {
    expect(evaluated({})).toEqual({ kind: "grant", resources: ASKED, message: "reserved for rome" });
    const status = acceptedWith({ cpu: "64", memory: "1Gi", "nvidia.com/gpu": "8" });
    const verdict = evaluated({ replica: { status, spec: { resources: { cpu: "64" } } } });
    expect(verdict).toMatchObject({ kind: "cap", resources: { cpu: "4", memory: "1Gi" } });
    expect(evaluated(endedFor(1000))).toMatchObject({ lookAgainMs: END_GRACE_MS - 1000 });
  });
});

const GRANT: ReplicaVerdict = { kind: "grant", resources: ASKED, message: "reserved for rome" };
const LEAVE: ReplicaVerdict = { kind: "leave" };
const refusal = (kind: Refusal["kind"], more: Partial<Refusal> = {}): Refusal => ({
  kind,
  reason: "ReservationEnded",
  message: "it is over",
  ...more,
});
const [KEEP, DENY, CORDON, REVOKE] = [refusal("keep"), refusal("deny"), refusal("cordon"), refusal("revoke")];
const KEEP_LATER = refusal("keep", { lookAgainMs: 700 });
const CAP = refusal("cap", { resources: { cpu: "4" } });

function planned(replica: ReplicaChanges, verdict: ReplicaVerdict, state: Partial<ReplicaState> = {}) {
  const usual = { isEnforcing: false, guests: 0, quota: "none", wallMs: NOW + 300_000 } as const;
  return planReplica({ slice: aReplica(replica), verdict, ...usual, ...state });
}

const writtenStatus = ({ write }: ReplicaPlan): NonNullable<ResourceSlice["status"]> =>
  (write !== undefined && "object" in write ? (write.object as ResourceSlice).status : undefined) ?? {};

/** In words: `Denied SliceRefused`, `cordon SliceCordoned`, `evict`, `in 700`, or `nothing`. */
function done(plan: ReplicaPlan): string {
  const { write, event, evict, requeueAfterMs } = plan;
  if (evict === true) return "evict";
  if (requeueAfterMs !== undefined) return `in ${requeueAfterMs}`;
  if (write === undefined) return "nothing";
  if (write.verb === "delete") return `drop ${write.resource.kind}`;
  if (write.verb === "patch") return `${event === undefined ? "uncordon" : `cordon ${event.reason}`}`;
  const condition = writtenStatus(plan).conditions?.find(({ type }) => type === "Resources");
  return `${condition?.status} ${event?.reason}`;
}

const annotated = (annotations: Readonly<Record<string, string>>): ReplicaChanges => ({
  ...ACCEPTED,
  metadata: { annotations },
});
const OURS = { "liqo.io/cordon": "true", "rear.fluidos.eu/cordoned": "ReservationEnded" };
const CORDONED = annotated(OURS);
const DENIED = { status: writtenStatus(planned({}, DENY)) };
const FOREIGN = { spec: { class: "default" }, ...ACCEPTED };
const ENFORCING = { isEnforcing: true };
/** Its consumer has deleted it, and keeps it from going. */
const GOING = { ...ACCEPTED, ...DELETED };
const GOING_CORDONED = { ...ACCEPTED, metadata: { ...DELETED.metadata, annotations: OURS } };

describe("a replica", () => {
  test.each<[string, ReplicaChanges, ReplicaVerdict, Partial<ReplicaState>, string]>([
    ["is granted", {}, GRANT, {}, "Accepted SliceGranted"],
    ["is not granted again", ACCEPTED, GRANT, {}, "nothing"],
    [
      "is the same in other words",
      { status: acceptedWith({ ...ASKED, cpu: "4000m" }) },
      GRANT,
      {},
      "nothing",
    ],
    ["is set back", { status: acceptedWith({ ...ASKED, cpu: "64" }) }, GRANT, {}, "Accepted SliceGranted"],
    ["is uncordoned by whoever cordoned it", CORDONED, GRANT, {}, "uncordon"],
    ["keeps a person's cordon", annotated({ "liqo.io/cordon": "true" }), GRANT, {}, "nothing"],

    ["never accepted is denied while it may be right", {}, KEEP, {}, "Denied SliceRefused"],
    ["never accepted is denied", {}, DENY, { quota: "open" }, "Denied SliceRefused"],
    ["never accepted is denied, not cordoned", {}, CORDON, {}, "Denied SliceRefused"],
    ["never accepted is denied, not revoked", {}, REVOKE, {}, "Denied SliceRefused"],
    ["denied is looked at again when it may be right by then", DENIED, KEEP_LATER, {}, "in 700"],
    ["of another's name leaves no quota in it, once denied", DENIED, DENY, { quota: "open" }, "drop Quota"],
    ["of another's name is left without a quota", DENIED, DENY, {}, "nothing"],
    ["that is only kept keeps its quota", DENIED, KEEP, { quota: "open" }, "nothing"],

    ["accepted is kept while it may be right again", ACCEPTED, KEEP_LATER, {}, "in 700"],
    ["accepted is denied where nothing can run", ACCEPTED, DENY, {}, "Denied SliceRefused"],
    // Liqo would not shrink the quota of a denied one.
    ["accepted is capped, and stays accepted", ACCEPTED, CAP, {}, "Accepted SliceRefused"],
    ["accepted is cordoned while it is not certain", ACCEPTED, CORDON, {}, "cordon SliceCordoned"],
    ["cordoned keeps its pods until it is certain", CORDONED, CORDON, { guests: 3 }, "nothing"],
    ["is cordoned before anything is removed", ACCEPTED, REVOKE, { guests: 3 }, "cordon SliceCordoned"],
    [
      "that says `false` is cordoned",
      annotated({ "liqo.io/cordon": "false" }),
      REVOKE,
      {},
      "cordon SliceCordoned",
    ],
    ["cordoned loses its pods", CORDONED, REVOKE, { guests: 3 }, "evict"],
    ["waits for Liqo to cordon its quota", CORDONED, REVOKE, { quota: "open" }, "in 2000"],
    ["is denied in the end", CORDONED, REVOKE, { quota: "cordoned" }, "Denied SliceRefused"],
    ["is denied where no quota is left", CORDONED, REVOKE, {}, "Denied SliceRefused"],

    ["of another class is left alone", FOREIGN, LEAVE, {}, "nothing"],
    ["of another class is cordoned with --liqo-enforce", FOREIGN, LEAVE, ENFORCING, "cordon SliceFlagged"],
    ["of another class is cordoned once", { ...FOREIGN, ...CORDONED }, LEAVE, ENFORCING, "nothing"],

    ["that goes is left alone while its reservation lives", GOING, GRANT, {}, "nothing"],
    ["that goes is left alone when it would be denied", GOING, DENY, {}, "nothing"],
    ["that goes is cordoned when nothing may run", GOING, REVOKE, {}, "cordon SliceCordoned"],
    ["that goes loses its pods", GOING_CORDONED, REVOKE, { guests: 2 }, "evict"],
    ["that goes is left to go when none is left", GOING_CORDONED, REVOKE, {}, "nothing"],
  ])("%s", (_, replica, verdict, state, expected) => {
    expect(done(planned(replica, verdict, state))).toBe(expected);
  });

  test("keeps what Liqo wrote, and gets exactly what was decided", () => {
    const status = { conditions: [AUTHENTICATED], authParams: { signedCRT: "LS0t" } };
    expect(writtenStatus(planned({ status }, GRANT))).toEqual({
      authParams: { signedCRT: "LS0t" },
      conditions: [
        AUTHENTICATED,
        {
          type: "Resources",
          status: "Accepted",
          reason: "Reserved",
          message: "reserved for rome",
          lastTransitionTime: "2026-07-01T10:05:00.000Z",
        },
      ],
      resources: ASKED,
    });
    expect(writtenStatus(planned(ACCEPTED, CAP)).resources).toEqual({ cpu: "4" });
    expect(planned({}, REVOKE).event?.message).toBe("ReservationEnded: it is over");
  });

  test("belongs to a user named after it, with Liqo's digest of the consumer", () => {
    expect(creatorUserOf("mypool", "rome-liqo")).toBe("mypool-8930a094bab8");
  });
});
