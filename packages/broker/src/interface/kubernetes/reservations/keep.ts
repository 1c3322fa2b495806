import { parseTime, type Reservation } from "@resource-broker/contract";
import type { Instant } from "@resource-broker/domain";
import type { Step } from "./step.ts";

/** The creator reads the answer and deletes the object. If it does not, the broker deletes it after this time. */
export const ANSWER_TTL_MS = 10 * 60 * 1000;

/** Plans the deletion of an object `keepMs` after its status was written. An object without that time stays. */
export function deleteAfter(ttlMs: number, { status }: Reservation, now: Instant): Step {
  const writtenAt = parseTime(status?.lastUpdateTime ?? "");
  if (writtenAt === undefined) return { kind: "done" };
  const leftMs = writtenAt + ttlMs - now;
  return leftMs <= 0 ? { kind: "delete" } : { kind: "done", requeueAfterMs: leftMs };
}
