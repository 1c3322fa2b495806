import type { ResourceVector } from "@resource-broker/base";
import type { Tier } from "../cost/cost-model.ts";
import type { ClusterId, DecisionId, Instant, ReservationId } from "../reservation/ids.ts";
import type { ReservationRequest } from "../reservation/reservation.ts";
import { FILTER_NAMES, type FilterName, type Refusal } from "./filters.ts";
import type { CandidateStats, ScoreInputs, ScoreParts } from "./scorers.ts";

/** The record of one decision: enough to explain it to a person and to recompute its winner. */
export interface Decision {
  readonly id: DecisionId;
  readonly at: Instant;
  readonly requester: ClusterId;
  readonly request: ReservationRequest;
  readonly policyVersion: string;
  readonly weights: Readonly<Record<string, number>>;
  readonly currency: string;
  readonly winner?: ClusterId;
  readonly market: CandidateStats;
  /** Number of clusters considered, and number of them that passed all filters. */
  readonly considered: number;
  readonly fitted: number;
  /** Number of candidates rejected by each filter. */
  readonly refusedBy: Readonly<Partial<Record<FilterName, number>>>;
  /** Best first, then the refused ones. All of them up to 64; beyond, the best 16 (or the 16 nearest misses). */
  readonly candidates: readonly CandidateRecord[];
  /** Of a request that waited: its place among the others. */
  readonly queue?: QueueRecord;
  /** No provider has room: reservations get notice, so that one will. */
  readonly notice?: NoticeRecord;
}

/** The place in the queue of a request that was granted, and those it was compared with. */
export interface QueueRecord extends RecordedPlace {
  /** How many waited, this one included. */
  readonly of: number;
  readonly waitedMs: number;
  /** The first of the others, in order. */
  readonly next: readonly (RecordedPlace & {
    readonly id: ReservationId;
    /** Why it was not granted though it comes first. */
    readonly passedOver?: string;
  })[];
}

export interface RecordedPlace {
  readonly priority: number;
  readonly tenant: string;
  readonly share: number;
  readonly since: Instant;
}

/** Who gets notice, and where else others could have. */
export interface NoticeRecord {
  /** When the victims end. */
  readonly until: Instant;
  readonly chosen: NoticeOption;
  /** The best four others. */
  readonly alternatives: readonly NoticeOption[];
}

export interface NoticeOption {
  readonly provider: ClusterId;
  /** What it has free; below zero where it has promised more than it has. */
  readonly free: ResourceVector;
  readonly victims: readonly Victim[];
  /** Of what the fleet lends, in thousandths: the largest part of a resource that the victims give back. */
  readonly share: number;
}

/** A reservation that gives way, and what it gives back. */
export interface Victim {
  readonly id: ReservationId;
  readonly priority: number;
  readonly tier: Tier;
  readonly reservedAt: Instant;
  readonly frees: ResourceVector;
}

export interface CandidateRecord {
  readonly clusterId: ClusterId;
  readonly advertisementAgeMs: number;
  readonly inputs: ScoreInputs;
  readonly outcome: ScoredOutcome | RefusedOutcome;
}

export interface ScoredOutcome {
  readonly kind: "scored";
  readonly score: number;
  readonly parts: ScoreParts;
}

export interface RefusedOutcome {
  readonly kind: "refused";
  readonly refusal: Refusal;
  /** Filters that would have refused it too. */
  readonly alsoRefusedBy: readonly FilterName[];
}

export interface CandidateRefusal extends Refusal {
  readonly clusterId: ClusterId;
}

/** One reason for each recorded candidate that was rejected. */
export function refusalsOf(decision: Decision): CandidateRefusal[] {
  return decision.candidates.flatMap(({ clusterId, outcome }) =>
    outcome.kind === "refused" ? [{ clusterId, ...outcome.refusal }] : [],
  );
}

/** The same without amounts of other clusters (`disclosure: reasons`). */
export function withoutAmounts(refusals: readonly CandidateRefusal[]): CandidateRefusal[] {
  return refusals.map(({ clusterId, filter, summary }) => ({ clusterId, filter, message: summary, summary }));
}

/** Why a request was refused: a filter, the requester's quota, or no clusters. */
export type UnmetReason = FilterName | "quota" | "no-clusters";

export const UNMET_REASONS: readonly UnmetReason[] = [
  ...FILTER_NAMES.filter((name) => name !== "self"),
  "quota",
  "no-clusters",
];

/**
 * The filter that rejected the cluster that came furthest: the one that passed the most filters, in their order. It would
 * remain if the reasons of all other clusters went away.
 */
export function unmetReason({ refusedBy }: Pick<Decision, "refusedBy">): UnmetReason {
  return FILTER_NAMES.findLast((name) => name !== "self" && (refusedBy[name] ?? 0) > 0) ?? "no-clusters";
}
