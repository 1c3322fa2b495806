import type { Policy } from "../deciding/policy.ts";
import { type Outcome, rejected } from "./command.ts";

/** The rejection for an invalid duration, for requests and renewals. */
export function unacceptableDuration(durationMs: number, { maxTtlMs }: Policy): Outcome | undefined {
  if (!Number.isSafeInteger(durationMs) || durationMs <= 0) {
    return rejected("invalid", "a duration must be above zero, for example 1h30m");
  }
  if (maxTtlMs !== undefined && durationMs > maxTtlMs) {
    const [asked, allowed] = [durationMs / 1000, maxTtlMs / 1000];
    return rejected("ttl-too-long", `${asked}s is longer than the policy allows (${allowed}s at most)`);
  }
  return undefined;
}
