import { describeResources, formatTime } from "@resource-broker/base";
import type { UiDecisionRow, UiDecisions } from "@resource-broker/contract/dashboard";
import { type Decision, unmetReason } from "@resource-broker/domain";
import type { Committed } from "../../../engine/engine.ts";
import type { DecisionQuery } from "../lists/list-query.ts";

const MAX_ROWS = 1000;

/** The newest decisions, as rows: some hundred bytes each. The store keeps them whole, but not in this order. */
export interface RecentDecisions {
  readonly add: (commit: Committed) => void;
  /** Looks up what was decided before this process, once. */
  readonly complete: () => Promise<void>;
  readonly page: (query: DecisionQuery, commit: number) => UiDecisions;
}

/** The rows of what a commit decided. */
export function decisionsIn({ events }: Pick<Committed, "events">): UiDecisionRow[] {
  return events.flatMap((event) =>
    event.kind === "granted" || event.kind === "refused" ? [decisionRow(event.decision)] : [],
  );
}

/** `readOlder` finds what the store still knows of earlier decisions, oldest first. */
export function createRecentDecisions(readOlder: () => Promise<readonly Decision[]>): RecentDecisions {
  /** Oldest first. */
  let rows: UiDecisionRow[] = [];
  let completing: Promise<void> | undefined;

  const putBefore = (older: readonly Decision[]): void => {
    const known = new Set(rows.map(({ id }) => id));
    rows = [...older.filter(({ id }) => !known.has(id)).map(decisionRow), ...rows];
  };

  const allowRetry = (): void => {
    // New decisions are shown; the next call tries again.
    completing = undefined;
  };

  return {
    add: (commit) => {
      rows.push(...decisionsIn(commit));
      // Now and then, so that not every decision moves a thousand rows.
      if (rows.length >= 2 * MAX_ROWS) rows = rows.slice(-MAX_ROWS);
    },
    complete: () => (completing ??= readOlder().then(putBefore, allowRetry)),
    page: ({ outcome, requester, offset, limit }, commit) => {
      const matching = rows
        .slice(-MAX_ROWS)
        .reverse()
        .filter((row) => outcome === undefined || (row.winner !== null) === (outcome === "granted"))
        .filter((row) => requester === "" || row.requester === requester);
      return { rows: matching.slice(offset, offset + limit), total: matching.length, offset, commit };
    },
  };
}

function decisionRow(decision: Decision): UiDecisionRow {
  const { winner } = decision;
  return {
    id: decision.id,
    at: formatTime(decision.at),
    requester: decision.requester,
    winner: winner ?? null,
    considered: decision.considered,
    fitted: decision.fitted,
    asked: describeResources(decision.request.resources),
    reason: winner === undefined ? unmetReason(decision) : null,
  };
}
