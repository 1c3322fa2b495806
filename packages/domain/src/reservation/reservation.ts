import type { ResourceVector } from "@resource-broker/base";
import type { Tier } from "../cost/cost-model.ts";
import type { ClusterId, DecisionId, Instant, ReservationId } from "./ids.ts";
import type { EndReason, Phase } from "./lifecycle.ts";

/** What a requester asks for, already parsed: `500m` and `0.5` are the same request. */
export interface ReservationRequest {
  readonly resources: ResourceVector;
  /** Orders requests that arrive together; higher first. */
  readonly priority: number;
  /** Absent: until released. */
  readonly durationMs?: number;
  /** The only acceptable provider. */
  readonly target?: ClusterId;
  readonly constraints: Constraints;
  /** What a single node must have allocatable. */
  readonly perNode?: ResourceVector;
  readonly tier: Tier;
  /** Only "now" is served today. */
  readonly start?: Instant;
}

export interface Constraints {
  readonly regions?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly excludeClusters?: readonly ClusterId[];
}

export interface Reservation {
  readonly id: ReservationId;
  readonly requester: ClusterId;
  readonly provider: ClusterId;
  readonly granted: ResourceVector;
  readonly request: ReservationRequest;
  readonly key?: string;
  readonly decisionId?: DecisionId;
  readonly phase: Phase;
  readonly reason?: EndReason;
  /** Details of the end, in addition to `reason`. */
  readonly message?: string;
  readonly cost?: ReservationCost;
  readonly createdAt: Instant;
  readonly reservedAt: Instant;
  readonly activatedAt?: Instant;
  readonly endedAt?: Instant;
  /** Until when an ended reservation is remembered. */
  readonly keepUntil?: Instant;
  readonly expiresAt?: Instant;
  /** Released if not active by then. */
  readonly activateBy?: Instant;
  /** The provider's agent said that it holds the capacity. */
  readonly acknowledged: boolean;
  /** The tenant it counts for; absent: its requester. */
  readonly tenant?: string;
  /** It is under notice, or was when it ended. */
  readonly preemption?: PreemptionNotice;
  /** Its request took over the place in the queue of one that was preempted: when that one first asked. */
  readonly since?: Instant;
  /** The waiting request that has taken over its place in the queue. */
  readonly resumedBy?: ReservationId;
  /** Incremented with every change, so that a delayed message never overrides a newer one. */
  readonly generation: number;
}

/** For whom a reservation must give way. */
export type NoticeCause =
  | {
      /** The waiting request. Its parties alone may know it; others are told the priority. */
      readonly by: ReservationId;
      readonly priority: number;
    }
  /** For nobody: its provider is drained. */
  | { readonly by?: undefined; readonly priority?: undefined };

/** A reservation that must give way. */
export type PreemptionNotice = NoticeCause & {
  /** When it ends, unless the notice is withdrawn. */
  readonly at: Instant;
};

export interface ReservationCost {
  readonly currency: string;
  readonly perHour: number;
  /** For its whole stated duration; absent while it is open-ended. */
  readonly total?: number;
}

/** Two requests are the same exactly when their fingerprints are equal. */
export function requestFingerprint(request: ReservationRequest): string {
  return canonicalJson(request);
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`);
  return `{${fields.join(",")}}`;
}
