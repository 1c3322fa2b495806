import type { ReleaseState } from "../../data-plane/data-plane.ts";
import { isFault } from "../../faults.ts";
import type { Write } from "../writes.ts";

/** Why something does not continue: one CamelCase word, and a sentence. */
export interface Obstacle {
  readonly reason: string;
  readonly message: string;
}

/** The two clusters of a peering, with their IDs at the broker and in Liqo. */
export interface Pair {
  readonly clusterId: string;
  readonly liqoId: string;
  /** This cluster's ID in Liqo according to the broker; undefined: unknown. */
  readonly ownLiqoId?: string | undefined;
}

/** What liqoctl is started for. `peer-again` ends the old peering first, because Liqo's replicator ignores it. */
export type JobName = "peer" | "peer-again" | "unpeer" | "force-unpeer";

/** Starts liqoctl, stops it, or forgets how it ended. */
export interface JobCommand {
  readonly kind: JobName | "abort" | "forget";
  readonly pair: Pair;
}

/** The next step of a delivery or a teardown: what is done, and what is said about it. */
export interface Step extends Obstacle {
  /** `act`: its effect is expected soon. `wait`: another controller is working. */
  readonly kind: "act" | "wait";
  /** True: nothing continues without help. */
  readonly isStalled?: boolean;
  readonly writes?: readonly Write[];
  readonly job?: JobCommand;
  /** What `not-found` in answer to a write means. Absent: the next reconcile observes the current state. */
  readonly ifMissing?: Obstacle;
}

export function act(reason: string, message: string, ...writes: readonly Write[]): Step {
  return { kind: "act", reason, message, writes };
}

export function actWith(job: JobCommand, reason: string, message: string): Step {
  return { kind: "act", reason, message, job };
}

export function wait(reason: string, message: string): Step {
  return { kind: "wait", reason, message };
}

export function stalled(reason: string, message: string): Step {
  return { kind: "wait", reason, message, isStalled: true };
}

type InProgress = Extract<ReleaseState, { readonly kind: "working" }>;

/** After a write, the effect is expected soon. */
const ACT_RETRY_MS = 250;
/** Another controller is working: mostly for less than a second, so the pauses grow with the time it has taken. */
const MIN_WAIT_RETRY_MS = 100;
const MAX_WAIT_RETRY_MS = 2000;
/** Nothing continues without help. */
const STALLED_RETRY_MS = 15_000;

/** The state to report after a step that has been the next one for so long. */
export function stateAfter({ kind, reason, message, isStalled = false }: Step, waitedMs = 0): InProgress {
  const growingMs = Math.min(Math.max(Math.round(waitedMs / 8), MIN_WAIT_RETRY_MS), MAX_WAIT_RETRY_MS);
  const waitMs = isStalled ? STALLED_RETRY_MS : growingMs;
  const retryAfterMs = kind === "act" ? ACT_RETRY_MS : waitMs;
  return { kind: "working", reason, message, retryAfterMs, ...(isStalled ? { isStalled } : {}) };
}

/** The state after a failed write; faults that it does not explain are thrown again. */
export function stateAfterFault(error: unknown): InProgress {
  // Conflicts are expected: the next reconcile sees the current state.
  if (isFault(error, "conflict", "already-exists", "not-found", "gone")) {
    return stateAfter(act("LookingAgain", error.message));
  }
  // The API server refuses until someone fixes the cause.
  if (!isFault(error, "forbidden", "invalid", "unsupported")) throw error;
  return stateAfter(stalled(error.code === "forbidden" ? "Forbidden" : "RefusedByServer", error.message));
}
