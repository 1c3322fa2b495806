import { Fault } from "@resource-broker/contract";
import type { ReleaseState } from "../../data-plane/data-plane.ts";

type UnderWay = Extract<ReleaseState, { readonly kind: "working" }>;

/** Something was written: what it leads to shows soon. */
const STEP_MS = 250;
/** Somebody else is at work. */
const LOOK_MS = 2000;
/** It does not go on by itself. */
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

/** Writes lose races, and that is no trouble: the next look sees who has won. */
const RACES: readonly string[] = ["conflict", "already-exists", "not-found", "gone"];
/** The API server says no, and will say so again until somebody has done something about it. */
const REFUSALS: readonly string[] = ["forbidden", "invalid", "unsupported"];

/** What a failed write means for the way it was a step of; what it does not explain is thrown again. */
export function afterFault(error: unknown): UnderWay {
  if (!(error instanceof Fault)) throw error;
  if (RACES.includes(error.code)) return stepped("LookingAgain", error.message);
  if (!REFUSALS.includes(error.code)) throw error;
  const reason = error.code === "forbidden" ? "Forbidden" : "RefusedByServer";
  return waiting({ reason, message: error.message, isTrouble: true });
}
