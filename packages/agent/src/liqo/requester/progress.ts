import { Fault } from "@resource-broker/base";
import type { ReleaseState } from "../../data-plane/data-plane.ts";

type InProgress = Extract<ReleaseState, { readonly kind: "working" }>;

/** After a write, the effect is expected soon. */
const STEP_RETRY_MS = 250;
/** Another controller is working. */
const WAIT_RETRY_MS = 2000;
/** Nothing continues without help. */
const STALLED_RETRY_MS = 15_000;

export function stepTaken(reason: string, message: string): InProgress {
  return { kind: "working", reason, message, retryAfterMs: STEP_RETRY_MS };
}

export function waiting(of: {
  readonly reason: string;
  readonly message: string;
  readonly isStalled?: boolean;
}): InProgress {
  const { reason, message, isStalled = false } = of;
  const pauseMs = isStalled ? STALLED_RETRY_MS : WAIT_RETRY_MS;
  return {
    kind: "working",
    reason,
    message,
    retryAfterMs: pauseMs,
    ...(isStalled ? { isStalled } : {}),
  };
}

/** Conflicts are expected: the next reconcile sees the current state. */
const CONFLICT_CODES: readonly string[] = ["conflict", "already-exists", "not-found", "gone"];
/** The API server refuses until someone fixes the cause. */
const REFUSALS: readonly string[] = ["forbidden", "invalid", "unsupported"];

/** The state after a failed write; faults that it does not explain are thrown again. */
export function afterFault(error: unknown): InProgress {
  if (!(error instanceof Fault)) throw error;
  if (CONFLICT_CODES.includes(error.code)) return stepTaken("LookingAgain", error.message);
  if (!REFUSALS.includes(error.code)) throw error;
  const reason = error.code === "forbidden" ? "Forbidden" : "RefusedByServer";
  return waiting({ reason, message: error.message, isStalled: true });
}
