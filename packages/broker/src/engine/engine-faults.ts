import { Fault } from "@resource-broker/contract";
import { StoreFailure } from "../store/store.ts";

const RETRY_AFTER_MS = 1000;
const RETRY_LATER = { details: { retryAfterMs: RETRY_AFTER_MS } };

export function overloaded(message: string): Fault {
  return new Fault("overloaded", message, RETRY_LATER);
}

/** The fault for callers whose batch was not committed. */
export function commitFault(cause: unknown): Fault {
  if (cause instanceof Fault) return cause;
  const { message } = asError(cause);
  const isDeposed = cause instanceof StoreFailure && cause.kind === "deposed";
  return isDeposed
    ? new Fault("not-leader", `${message}; use that replica, or the next broker URL`, {
        cause,
        ...RETRY_LATER,
      })
    : new Fault("store-unavailable", `the ledger cannot be written: ${message}`, { cause, ...RETRY_LATER });
}

/** True if no retry can succeed. */
export function isFatal(cause: unknown): boolean {
  return cause instanceof StoreFailure ? cause.kind === "corrupt" : !(cause instanceof Fault);
}

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
