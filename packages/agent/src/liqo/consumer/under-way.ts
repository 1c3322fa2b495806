import { Fault } from "@resource-broker/contract";
import type { ReleaseState } from "../../data-plane/data-plane.ts";

type UnderWay = Extract<ReleaseState, { readonly kind: "working" }>;

/** After a write, the effect is expected soon. */
const STEP_MS = 250;
/** Another controller is working. */
const LOOK_MS = 2000;
/** Nothing continues without help. */
const TROUBLE_MS = 15_000;

export function stepped(reason: string, message: string): UnderWay {
  return { kind: "working", reason, message, retryAfterMs: STEP_MS };
}

export function waiting(of: {
  readonly reason: string;
  readonly message: string;
  readonly isTrouble?: boolean;
}): UnderWay {
  const { reason, message, isTrouble = false } = of;
  const pauseMs = isTrouble ? TROUBLE_MS : LOOK_MS;
  return { kind: "working", reason, message, retryAfterMs: pauseMs, ...(isTrouble ? { isTrouble } : {}) };
}

/** Conflicts are expected: the next reconcile sees the current state. */
const RACES: readonly string[] = ["conflict", "already-exists", "not-found", "gone"];
/** The API server refuses until someone fixes the cause. */
const REFUSALS: readonly string[] = ["forbidden", "invalid", "unsupported"];

/** The state after a failed write; faults that it does not explain are thrown again. */
export function afterFault(error: unknown): UnderWay {
  if (!(error instanceof Fault)) throw error;
  if (RACES.includes(error.code)) return stepped("LookingAgain", error.message);
  if (!REFUSALS.includes(error.code)) throw error;
  const reason = error.code === "forbidden" ? "Forbidden" : "RefusedByServer";
  return waiting({ reason, message: error.message, isTrouble: true });
}
