import { StoreFailure } from "../store.ts";
import { isAnswer, isConflict } from "./failure.ts";
import type { Session, Statement, StatementResult } from "./session.ts";

const BEGIN: Statement = { text: "BEGIN" };
const COMMIT: Statement = { text: "COMMIT" };
const ROLLBACK: Statement = { text: "ROLLBACK" };

/** Begins a transaction and sends its first statements along; returns their answers. */
export async function begin(session: Session, first: readonly Statement[]): Promise<StatementResult[]> {
  const outcomes = await Promise.allSettled([BEGIN, ...first].map(session.send));
  return outcomes.slice(1).map((outcome) => {
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  });
}

/**
 * Sends the last statements and the COMMIT in one go, and returns when the transaction is surely there. Throws what kept
 * it from being there, or a StoreFailure of kind `unknown` when only the database knows.
 */
export async function finish(session: Session, last: readonly Statement[]): Promise<void> {
  const outcomes = await Promise.allSettled([...last, COMMIT].map(session.send));
  const [commit] = outcomes.splice(-1);
  const failed = outcomes.find((write) => write.status === "rejected");
  if (commit?.status !== "fulfilled") throw asFailure(failed?.reason, commit?.reason);
  if (commit.value.command !== "COMMIT") throw failed?.reason ?? new Error("the transaction was rolled back");
}

/** What is known when the COMMIT was not confirmed. */
function asFailure(write: unknown, commit: unknown): unknown {
  // The database refused a write, so it has rolled back the transaction, even if the connection broke.
  if (isAnswer(write)) return write;
  if (isConflict(commit)) return commit;
  const message = "the connection broke before the commit was confirmed";
  return new StoreFailure("unknown", message, { cause: commit });
}

export async function rollBack(session: Session): Promise<void> {
  // Where this fails the connection is broken, and with it the transaction.
  await session.send(ROLLBACK).catch(session.destroy);
}
