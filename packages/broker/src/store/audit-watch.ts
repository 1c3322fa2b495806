import { type Clock, formatTime, type Log } from "@resource-broker/base";
import type { AuditChainDTO } from "@resource-broker/contract";
import { canonical, CHAIN_START, type ChainLink, chainProblem, UnreadableLine } from "./common/audit.ts";
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
  readonly clock: Pick<Clock, "after" | "monotonicMs" | "wallMs">;
  readonly observer: AuditObserver;
  readonly log: Pick<Log, "error" | "info">;
}

export interface AuditWatch {
  /** What is known of the log now. */
  readonly chain: () => AuditChainDTO;
  readonly stop: () => void;
}

/** Before the first check. */
export const UNCHECKED_CHAIN: AuditChainDTO = { state: "checking", lines: 0 };

/**
 * Verifies the hash chain of the audit log in the background: from the oldest line to the newest, then new lines as they
 * appear, and from the oldest line again every hour. It finds lines that another program changed, removed or cut off. It
 * cannot tell the removal of the oldest lines from trimming.
 */
export function watchAudit(deps: AuditWatchDeps): AuditWatch {
  const { store, clock, observer, log } = deps;
  let link: ChainLink | undefined;
  /** The newest verified line: it must neither change nor disappear. */
  let newest: ChainLink | undefined;
  let problem: string | undefined;
  /** Lines verified in this pass. */
  let lineCount = 0;
  /** The end of the last pass that found nothing wrong. */
  let valid: { readonly lines: number; readonly at: string } | undefined;
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
    lineCount += seen.count;
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
    valid = { lines: lineCount, at: formatTime(clock.wallMs()) };
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
    lineCount = 0;
    passStartedAt = clock.monotonicMs();
  };

  const chain = (): AuditChainDTO => {
    if (problem !== undefined) return { state: "broken", message: problem };
    // It stays valid while the same lines are checked again.
    return valid === undefined ? { state: "checking", lines: lineCount } : { state: "whole", ...valid };
  };

  return {
    chain,
    stop: () => {
      isStopped = true;
      cancel();
    },
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

/** The result of checking a part of the chain. */
interface ChainProgress {
  /** The last line that fits. Undefined: no line was seen yet. */
  readonly link: ChainLink | undefined;
  /** How many lines fit. */
  readonly count: number;
  /** What is wrong with the line after it. */
  readonly problem?: string;
}

/**
 * Verifies the next lines of the chain. The first line follows the chain's start. If older lines were trimmed, the first
 * remaining line is accepted unchecked. `known` is a line that was seen before and must not have changed.
 */
function verifyChain(
  from: ChainLink | undefined,
  lines: readonly AuditEntry[],
  known?: ChainLink,
): ChainProgress {
  let link = from;
  for (const [count, line] of lines.entries()) {
    const problem = problemWith(line, link, known);
    if (problem !== undefined) return { link, count, problem };
    link = { sequence: line.sequence, hash: line.hash };
  }
  return { link, count: lines.length };
}

function problemWith(
  line: AuditEntry,
  before: ChainLink | undefined,
  known: ChainLink | undefined,
): string | undefined {
  const { sequence, hash } = line;
  if (sequence === known?.sequence && hash !== known.hash)
    return `line ${sequence} has changed since it was last checked`;
  const link = sequence === CHAIN_START.sequence + 1 ? CHAIN_START : before;
  return link && chainProblem(link, { sequence, hash, text: canonical(line) });
}
