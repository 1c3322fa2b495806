import type { Clock, Log } from "@resource-broker/base";
import { type ChainLink, UnreadableLine } from "./common/audit.ts";
import { verifyChain } from "./common/audit-chain.ts";
import { type AuditEntry, type Store, StoreFailure } from "./store.ts";

/** Checking this many lines blocks the event loop for about a millisecond. */
const LINES_AT_ONCE = 200;
/** The pause after a step is this many times the step's duration: at most 1 % of the CPU. */
const IDLE_FACTOR = 99;
const MIN_PAUSE_MS = 250;
/** Interval for checking new lines. */
const FOLLOW_MS = 10_000;
/** Interval for checking the whole log again. */
const RECHECK_MS = 3_600_000;

/** Receives the results of the watch. */
export interface AuditObserver {
  /** Number of lines that were verified. */
  readonly auditChecked: (lines: number) => void;
  /** What is wrong with the log; undefined: nothing that is known of. */
  readonly auditFound: (problem: string | undefined) => void;
}

export interface AuditWatchDeps {
  readonly store: Pick<Store, "readAudit">;
  readonly clock: Pick<Clock, "after" | "monotonicMs">;
  readonly observer: AuditObserver;
  readonly log: Pick<Log, "error" | "info">;
}

/**
 * Verifies the hash chain of the audit log in the background: from the oldest line to the newest, then new lines as they
 * appear, and from the oldest line again every hour. It finds lines that another program changed, removed or cut off. It
 * cannot tell the removal of the oldest lines from trimming. Returns a function that stops it.
 */
export function watchAudit(deps: AuditWatchDeps): () => void {
  const { store, clock, observer, log } = deps;
  let link: ChainLink | undefined;
  /** The newest verified line: it must neither change nor disappear. */
  let newest: ChainLink | undefined;
  let problem: string | undefined;
  let passStartedAt = clock.monotonicMs();
  let isStopped = false;
  let cancel = clock.after(FOLLOW_MS, () => void step());

  async function step(): Promise<void> {
    const startedAt = clock.monotonicMs();
    const pauseMs = await checkNext();
    const restMs = IDLE_FACTOR * (clock.monotonicMs() - startedAt);
    if (!isStopped) cancel = clock.after(Math.max(pauseMs, restMs), () => void step());
  }

  /** One page. Returns how long to rest at least. */
  const checkNext = async (): Promise<number> => {
    const read = await readLines(store, link);
    if (isStopped || read === "later") return FOLLOW_MS;
    if (read.problem !== undefined) return reportBroken(read.problem);
    const { lines } = read;
    if (await wasTrimmed(lines)) link = undefined;
    const seen = verifyChain(link, lines, newest);
    link = seen.link;
    observer.auditChecked(seen.count);
    if (seen.problem !== undefined) return reportBroken(seen.problem);
    return lines.length === LINES_AT_ONCE ? MIN_PAUSE_MS : finishPass();
  };

  /** Trimming may remove lines that the current pass has not reached yet. */
  const wasTrimmed = async ([first]: readonly AuditEntry[]): Promise<boolean> => {
    if (first === undefined || link === undefined || first.sequence === link.sequence + 1) return false;
    const oldest = await readLines(store, undefined, 1);
    return oldest !== "later" && (oldest.lines[0]?.sequence ?? 0) >= first.sequence;
  };

  const finishPass = (): number => {
    if (newest !== undefined && (link?.sequence ?? 0) < newest.sequence)
      return reportBroken(
        `the log ends at line ${link?.sequence ?? 0}, but line ${newest.sequence} was there before`,
      );
    newest = link;
    if (problem !== undefined) log.info({}, "the audit log is valid again");
    report(undefined);
    if (clock.monotonicMs() - passStartedAt >= RECHECK_MS) restartPass();
    return FOLLOW_MS;
  };

  const reportBroken = (found: string): number => {
    if (found !== problem)
      log.error({ problem: found }, "the audit log is broken; see brokerctl audit --verify");
    report(found);
    restartPass();
    return RECHECK_MS;
  };

  const report = (found: string | undefined): void => {
    problem = found;
    observer.auditFound(found);
  };

  const restartPass = (): void => {
    link = undefined;
    passStartedAt = clock.monotonicMs();
  };

  return () => {
    isStopped = true;
    cancel();
  };
}

type Lines = { readonly lines: readonly AuditEntry[]; readonly problem?: string };

async function readLines(
  store: Pick<Store, "readAudit">,
  after: ChainLink | undefined,
  limit = LINES_AT_ONCE,
): Promise<Lines | "later"> {
  try {
    return { lines: await store.readAudit({ after: after?.sequence ?? 0, limit }) };
  } catch (error) {
    // An unreachable store is reported elsewhere and says nothing about the log.
    return isDamage(error) ? { lines: [], problem: `a line cannot be read: ${String(error)}` } : "later";
  }
}

function isDamage(error: unknown): boolean {
  if (error instanceof UnreadableLine) return true;
  if (error instanceof StoreFailure && error.kind === "corrupt") return true;
  return error instanceof Error && error.cause !== undefined && isDamage(error.cause);
}
