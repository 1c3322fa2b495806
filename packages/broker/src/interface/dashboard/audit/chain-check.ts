import { type Clock, formatTime } from "@resource-broker/base";
import type { UiVerified } from "@resource-broker/contract/dashboard";
import type { Instant } from "@resource-broker/domain";
import type { ChainLink } from "../../../store/common/audit.ts";
import { verifyChain } from "../../../store/common/audit-chain.ts";
import type { AuditEntry, Store } from "../../../store/store.ts";

const LINES_AT_ONCE = 500;
/** Between two pieces, so that callers wait for one piece at most. */
const PAUSE_MS = 5;
/** New lines extend the last check; after this time all lines are checked again. */
const RECHECK_ALL_MS = 600_000;
const RECHECK_MS = 10_000;

export interface ChainCheckDeps {
  readonly store: Pick<Store, "readAudit">;
  readonly clock: Pick<Clock, "after" | "monotonicMs">;
  readonly now: () => Instant;
}

/** Verifies the hash chain of the audit log in the background, in steps, while the audit page is open. */
export interface ChainCheck {
  /** Returns the last result and starts a check if one is due. */
  readonly status: () => UiVerified;
  readonly stop: () => void;
}

interface ChainPosition {
  /** The last line that fitted; undefined: none yet. */
  readonly link: ChainLink | undefined;
  readonly lines: number;
}

const START: ChainPosition = { link: undefined, lines: 0 };

export function createChainCheck({ store, clock, now }: ChainCheckDeps): ChainCheck {
  let verified: UiVerified = { state: "checking", lines: 0 };
  let position = START;
  let isChecking = false;
  let isStopped = false;
  let beganAt = Number.NEGATIVE_INFINITY;
  let endedAt = Number.NEGATIVE_INFINITY;
  let cancelPause = (): unknown => undefined;

  const begin = (): void => {
    isChecking = true;
    if (verified.state !== "whole" || clock.monotonicMs() - beganAt > RECHECK_ALL_MS) {
      position = START;
      beganAt = clock.monotonicMs();
    }
    void checkNext();
  };

  const checkNext = async (): Promise<void> => {
    try {
      const result = await step(position, store);
      if (isStopped) return;
      if ("problem" in result) return end({ state: "broken", ...result.problem, at: formatTime(now()) });
      position = result.position;
      if (result.isEnd) return end({ state: "whole", lines: position.lines, at: formatTime(now()) });
      // The result stays `whole` while the same lines are checked again.
      if (verified.state !== "whole") verified = { state: "checking", lines: position.lines };
      cancelPause = clock.after(PAUSE_MS, () => void checkNext());
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      end({ state: "none", message: `The log cannot be read right now: ${reason}` });
    }
  };

  const end = (result: UiVerified): void => {
    isChecking = false;
    verified = result;
    endedAt = clock.monotonicMs();
  };

  return {
    status: () => {
      if (!isChecking && !isStopped && clock.monotonicMs() - endedAt > RECHECK_MS) begin();
      return verified;
    },
    stop: () => {
      isStopped = true;
      cancelPause();
    },
  };
}

type StepResult =
  | { readonly position: ChainPosition; readonly isEnd: boolean }
  | { readonly problem: { readonly sequence: number; readonly message: string } };

/** Reads the next lines and fits them to the chain. */
async function step({ link, lines }: ChainPosition, store: Pick<Store, "readAudit">): Promise<StepResult> {
  const next = await store.readAudit({ after: link?.sequence ?? 0, limit: LINES_AT_ONCE });
  const from = (await wasTrimmed(link, next[0], store)) ? undefined : link;
  const seen = verifyChain(from, next);
  if (seen.problem !== undefined) {
    const sequence = (seen.link?.sequence ?? 0) + 1;
    return { problem: { sequence, message: `The log is broken: ${seen.problem}.` } };
  }
  return { position: { link: seen.link, lines: lines + seen.count }, isEnd: next.length < LINES_AT_ONCE };
}

/** Trimming may remove lines that the check has not reached yet. */
async function wasTrimmed(
  link: ChainLink | undefined,
  next: AuditEntry | undefined,
  store: Pick<Store, "readAudit">,
): Promise<boolean> {
  if (link === undefined || next === undefined || next.sequence === link.sequence + 1) return false;
  const [oldest] = await store.readAudit({ after: 0, limit: 1 });
  return (oldest?.sequence ?? 0) >= next.sequence;
}
