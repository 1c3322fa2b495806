import { describeResources, formatTime } from "@resource-broker/base";
import { type DecisionPageDTO, type DecisionSummaryDTO, OUTCOMES } from "@resource-broker/contract";
import { type Decision, unmetReason } from "@resource-broker/domain";
import type { Committed } from "../../engine/engine.ts";
import { oneOf, type Query, readSlice, textOf } from "../http/query.ts";

const MAX_ROWS = 1000;

/** The newest decisions, as rows: some hundred bytes each. The store keeps them whole, but not in this order. */
export interface RecentDecisions {
  readonly add: (commit: Committed) => void;
  /** Looks up what was decided before this process, once. */
  readonly complete: () => Promise<void>;
  readonly page: (query: Query) => DecisionPageDTO;
}

/** The rows of what a commit decided. */
export function decisionsIn({ events }: Pick<Committed, "events">): DecisionSummaryDTO[] {
  return events.flatMap((event) =>
    event.kind === "granted" || event.kind === "refused" ? [decisionRow(event.decision)] : [],
  );
}

/** `readOlder` finds what the store still knows of earlier decisions, oldest first. */
export function createRecentDecisions(readOlder: () => Promise<readonly Decision[]>): RecentDecisions {
  /** Oldest first. */
  let rows: DecisionSummaryDTO[] = [];
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
    page: (query) => {
      const outcome = oneOf(query, "outcome", OUTCOMES);
      const requester = textOf(query, "requester");
      const { offset, limit } = readSlice(query);
      const matching = rows
        .slice(-MAX_ROWS)
        .reverse()
        .filter(({ winner }) => outcome === undefined || (winner !== undefined) === (outcome === "granted"))
        .filter(({ requesterID }) => requester === "" || requesterID === requester);
      return { items: matching.slice(offset, offset + limit), total: matching.length };
    },
  };
}

function decisionRow(decision: Decision): DecisionSummaryDTO {
  const { winner } = decision;
  return {
    id: decision.id,
    at: formatTime(decision.at),
    requesterID: decision.requester,
    ...(winner === undefined ? { reason: unmetReason(decision) } : { winner }),
    considered: decision.considered,
    fitted: decision.fitted,
    asked: describeResources(decision.request.resources),
  };
}
