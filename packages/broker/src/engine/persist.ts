import { type Clock, Fault } from "@resource-broker/base";
import { type CommitBatch, type Store, StoreFailure } from "../store/store.ts";

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5000;

export interface PersistDeps {
  readonly store: Pick<Store, "commit" | "lastCommit">;
  readonly clock: Pick<Clock, "after">;
  readonly onFailure: (failure: StoreFailure) => void;
}

/**
 * Commits a batch and returns when it is durable. Throws a StoreFailure of kind `not-committed` or `deposed` if it is
 * certainly not committed, or `corrupt`. If the outcome is unknown, the last commit number of the store decides: the batch is
 * there, or it is committed again. The number is read without limit, because any other answer could be wrong.
 */
export async function persist(batch: CommitBatch, deps: PersistDeps): Promise<void> {
  for (;;) {
    try {
      await deps.store.commit(batch);
      return;
    } catch (error) {
      const failure = asFailure(error);
      deps.onFailure(failure);
      if (failure.kind !== "unknown") throw failure;
    }
    await pause(deps.clock, FIRST_WAIT_MS);
    const last = await lastCommit(deps);
    if (last === batch.number) return;
    if (last !== batch.number - 1) {
      throw new StoreFailure(
        "corrupt",
        `the store is at commit ${last}; expected ${batch.number - 1} or ${batch.number}`,
      );
    }
  }
}

async function lastCommit({ store, clock, onFailure }: PersistDeps): Promise<number> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      return await store.lastCommit();
    } catch (error) {
      const failure = asFailure(error);
      onFailure(failure);
      if (failure.kind === "corrupt") throw failure;
      await pause(clock, waitMs);
    }
  }
}

function pause(clock: PersistDeps["clock"], milliseconds: number): Promise<void> {
  return new Promise((resolve) => clock.after(milliseconds, resolve));
}

/** An unknown error leaves the outcome unknown. */
function asFailure(error: unknown): StoreFailure {
  if (error instanceof StoreFailure) return error;
  return new StoreFailure("unknown", error instanceof Error ? error.message : String(error), {
    cause: error,
  });
}

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
