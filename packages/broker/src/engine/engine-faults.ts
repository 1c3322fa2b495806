import { Fault } from "@resource-broker/contract";
import { StoreFailure } from "../store/store.ts";

const RETRY_AFTER_MS = 1000;
const LATER = { details: { retryAfterMs: RETRY_AFTER_MS } };

export function overloaded(message: string): Fault {
  return new Fault("overloaded", message, LATER);
}

/** What callers are told whose batch was not booked. */
export function commitFault(cause: unknown): Fault {
  if (cause instanceof Fault) return cause;
  const { message } = asError(cause);
  const isDeposed = cause instanceof StoreFailure && cause.kind === "deposed";
  return isDeposed
    ? new Fault("not-leader", `${message}; ask there, or ask the next broker URL`, { cause, ...LATER })
    : new Fault("store-unavailable", `the ledger cannot be written: ${message}`, { cause, ...LATER });
}

/** What no later try can put right. */
export function isFatal(cause: unknown): boolean {
  return cause instanceof StoreFailure ? cause.kind === "corrupt" : !(cause instanceof Fault);
}

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
