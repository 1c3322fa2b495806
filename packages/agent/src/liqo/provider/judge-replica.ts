import { parseTime } from "@resource-broker/contract";
import type { Instant } from "@resource-broker/domain";
import type { BookEntry } from "../../reservations/reservation-book.ts";
import { LIQO_LABEL, SLICE_CLASS } from "../objects/labels.ts";
import type { ResourceList, ResourceSlice } from "../objects/resource-slice.ts";
import { isAccepted } from "./replica-status.ts";
import { type AmountProblem, amountProblem, cappedAmounts } from "./slice-amounts.ts";
import type { SliceTerms } from "./slice-measure.ts";

/** How long a consumer may take to give back what has ended, before it is taken from it: longer than our own agents drain. */
export const END_GRACE_MS = 180_000;
/** A slice may be faster than the broker's word of its reservation. */
export const SETTLE_MS = 10_000;
const LOOK_AGAIN_MS = 1000;

/** A slice that Liqo copied here for another cluster. */
export interface Replica {
  readonly slice: ResourceSlice;
  /**
   * Liqo's ID of the cluster whose tenant namespace it lies in; undefined: it is in no such namespace. All else that the
   * replica says about its origin, the consumer could write itself.
   */
  readonly tenant: string | undefined;
  /** False: this cluster's admin has cordoned or drained that consumer in Liqo. */
  readonly isWelcome: boolean;
}

/** What the agent knows of the reservation that the slice is named after. */
export interface LoanView {
  readonly entry: BookEntry | undefined;
  /** Capacity is held for it. */
  readonly isHeld: boolean;
  /** The broker, asked by id, knows no such reservation of this cluster. */
  readonly isStranger: boolean;
  /** How long it has been looked at without knowing its reservation. */
  readonly unknownForMs: number;
  readonly terms: SliceTerms;
}

export type RefusalReason =
  | AmountProblem["reason"]
  | "UnknownReservation"
  | "WrongRequester"
  | "RequesterNotInLiqo"
  | "ReservationExpired"
  | "ReservationEnded";

/**
 * What a refusal means where the replica was accepted before. `keep`: it may be right again in a moment. `cap`: it gets
 * no more than this. `deny`: nothing can be running for it. `cordon`: nothing new may run until it is certain.
 * `revoke`: nothing may run any more.
 */
export type Consequence =
  | { readonly kind: "keep" | "deny" | "cordon" }
  | { readonly kind: "revoke"; readonly tenant: string }
  | { readonly kind: "cap"; readonly resources: ResourceList };

export type Verdict =
  | { readonly kind: "grant"; readonly resources: ResourceList; readonly message: string }
  | {
      readonly kind: "refuse";
      readonly reason: RefusalReason;
      readonly message: string;
      readonly consequence: Consequence;
      readonly lookAgainMs?: number;
    }
  | { readonly kind: "leave"; readonly lookAgainMs?: number };

type Refusal = Extract<Verdict, { kind: "refuse" }>;

const LEAVE: Verdict = { kind: "leave" };
const LATER: Verdict = { kind: "leave", lookAgainMs: LOOK_AGAIN_MS };
const KEEP: Consequence = { kind: "keep" };

/**
 * Whether a replica gets what it asks for. `now` is the broker's time; undefined: it has not answered yet. Every word of
 * the replica is taken for the word of a stranger.
 */
export function judgeReplica(replica: Replica, view: LoanView, now: Instant | undefined): Verdict {
  const { slice, tenant } = replica;
  if (slice.spec.class !== SLICE_CLASS) return LEAVE;
  // Whoever keeps an accepted one from going keeps its Quota, too.
  if (slice.metadata.deletionTimestamp !== undefined && !isAccepted(slice)) return LEAVE;
  // Liqo fills it in on the consumer's side, and cannot bear an accepted slice without it.
  if (slice.spec.consumerClusterID === undefined) return LEAVE;
  if (tenant === undefined || !isFrom(slice, tenant)) {
    return refused("WrongRequester", "it is not what the owner of this namespace sends", { kind: "deny" });
  }
  if (!replica.isWelcome) return LEAVE;
  return judgeOrigin(tenant, slice, view) ?? judgeTime(tenant, view, now) ?? judgeAmounts(slice, view);
}

/** True when the replica says of itself what its namespace says of it. */
function isFrom({ metadata, spec }: ResourceSlice, tenant: string): boolean {
  return metadata.labels?.[LIQO_LABEL.origin] === tenant && spec.consumerClusterID === tenant;
}

function judgeOrigin(tenant: string, slice: ResourceSlice, view: LoanView): Verdict | undefined {
  const { entry, isStranger, unknownForMs } = view;
  if (entry === undefined) {
    const isNew = !isStranger && !isAccepted(slice);
    if (isNew && unknownForMs < SETTLE_MS) return { kind: "leave", lookAgainMs: SETTLE_MS - unknownForMs };
    const consequence: Consequence = isStranger ? { kind: "revoke", tenant } : { kind: "cordon" };
    return refused(
      "UnknownReservation",
      `this cluster lends nothing under ${slice.metadata.name}: the slice must be named after its reservation`,
      consequence,
    );
  }
  const { requesterID, requesterLiqoID } = entry.reservation;
  if (requesterLiqoID === tenant) return undefined;
  // What is over is over for everybody, also when the broker has forgotten who the requester was in Liqo.
  if (requesterLiqoID === undefined && entry.endedAt !== undefined) return undefined;
  if (requesterLiqoID === undefined) {
    return refused(
      "RequesterNotInLiqo",
      `the broker does not know Liqo's ID of ${requesterID}: its agent must run where Liqo is installed`,
      KEEP,
    );
  }
  return refused("WrongRequester", `the reservation is not ${tenant}'s`, { kind: "revoke", tenant });
}

function judgeTime(tenant: string, { entry }: LoanView, now: Instant | undefined): Verdict | undefined {
  if (entry === undefined) return LEAVE;
  const { endedAt, reservation } = entry;
  if (endedAt !== undefined) {
    const leftMs = now === undefined ? END_GRACE_MS : endedAt + END_GRACE_MS - now;
    const message = `the reservation is over: ${reservation.status.message}`;
    if (leftMs <= 0) return refused("ReservationEnded", message, { kind: "revoke", tenant });
    return { ...refused("ReservationEnded", message, KEEP), lookAgainMs: leftMs };
  }
  const expiresAt = parseTime(reservation.status.expiresAt ?? "");
  if (expiresAt === undefined) return undefined;
  if (now === undefined) return LATER;
  // Whether it has ended is for the broker to say: it may have been renewed.
  if (expiresAt > now) return undefined;
  return {
    ...refused("ReservationExpired", "the reservation's time is over", KEEP),
    lookAgainMs: LOOK_AGAIN_MS,
  };
}

function judgeAmounts(slice: ResourceSlice, { entry, isHeld, terms }: LoanView): Verdict {
  // One that has accepted itself is not let have too much until then.
  if (entry === undefined || (!isHeld && !isAccepted(slice))) return LATER;
  const { spec, status } = slice;
  const { reservation } = entry;
  const asked = spec.resources ?? {};
  const problem = amountProblem(asked, reservation, terms);
  if (problem === undefined) {
    if (!isHeld) return LATER;
    const resources = cappedAmounts(asked, reservation, terms);
    return { kind: "grant", resources, message: `reserved for ${reservation.requesterID}` };
  }
  const resources = cappedAmounts(status?.resources ?? {}, reservation, terms);
  return refused(problem.reason, problem.message, { kind: "cap", resources });
}

function refused(reason: RefusalReason, message: string, consequence: Consequence): Refusal {
  return { kind: "refuse", reason, message, consequence };
}
