import { parseTime, type Reservation } from "@resource-broker/contract";
import type { Instant } from "@resource-broker/domain";
import type { Step } from "./step.ts";

/** Its maker reads the answer and deletes the object; one that died leaves it to the broker. */
export const KEEP_ANSWER_MS = 10 * 60 * 1000;

/** Deletes an object so long after its status was written; one without a time of writing stays. */
export function deleteAfter(keepMs: number, { status }: Reservation, now: Instant): Step {
  const toldAt = parseTime(status?.lastUpdateTime ?? "");
  if (toldAt === undefined) return { kind: "rest" };
  const leftMs = toldAt + keepMs - now;
  return leftMs <= 0 ? { kind: "delete" } : { kind: "rest", requeueAfterMs: leftMs };
}
