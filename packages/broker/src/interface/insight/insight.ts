import type { Clock, Log } from "@resource-broker/base";
import type { Engine } from "../../engine/engine.ts";
import type { Store } from "../../store/store.ts";
import { type AcknowledgementTimes, heldMoments } from "./audit/acknowledgement-times.ts";
import { type AuditTail, newestLines, recentDecisionsInAudit } from "./audit/audit-tail.ts";
import { createDemand, type Demand } from "./demand.ts";
import { createHistory, type History } from "./history/history.ts";
import { createLiveHub, type LiveHub, type LiveHubDeps } from "./live/live-hub.ts";
import { createMeanPrices, type MeanPrices } from "./money.ts";
import { createRecentDecisions, type RecentDecisions } from "./recent-decisions.ts";

/** What is remembered beside the ledger, so that people can see how it came to its state. Nothing is decided by it. */
export interface Insight {
  /** Absent: no history is recorded. */
  readonly history?: History;
  readonly live: LiveHub;
  readonly auditTail: AuditTail;
  readonly acknowledgementTimes: AcknowledgementTimes;
  readonly decisions: RecentDecisions;
  readonly demand: Demand;
  readonly meanPrices: MeanPrices;
  /** Reads the history of an earlier process. */
  readonly start: () => Promise<void>;
  /** Ends the streams. */
  readonly stopStreams: () => void;
  /** Writes the history. */
  readonly stop: () => Promise<void>;
}

export interface InsightDeps extends LiveHubDeps {
  readonly engine: Engine;
  readonly store: Pick<Store, "findDecision" | "readAudit">;
  readonly clock: Clock;
  readonly log: Log;
  /** Absent: no history is recorded. Without a file it is in memory only. */
  readonly historyIn?: { readonly file?: string } | undefined;
}

export function createInsight(deps: InsightDeps): Insight {
  const { engine, store, clock, log, historyIn } = deps;
  const history = historyIn && createHistory({ engine, clock, log, ...historyIn });
  const live = createLiveHub(deps);
  const auditTail = newestLines(store);
  const acknowledgementTimes = heldMoments(store, auditTail);
  const ledger = () => engine.ledger;
  const decisions = createRecentDecisions(() => recentDecisionsInAudit({ store, auditTail, ledger }));
  const meanPrices = createMeanPrices(store, ledger);
  const demand = createDemand(engine);
  const unsubscribeRefused = engine.onRefused((refused) => {
    if (demand.refused(refused)) history?.refused(refused.decision);
  });
  const unsubscribe = engine.onCommit((commit) => {
    demand.committed(commit);
    history?.committed(commit);
    decisions.add(commit);
    acknowledgementTimes.add(commit);
    meanPrices.add(commit);
    live.committed(commit);
  });
  return {
    ...(history && { history }),
    live,
    auditTail,
    acknowledgementTimes,
    decisions,
    demand,
    meanPrices,
    start: async () => history?.start(),
    stopStreams: () => {
      unsubscribe();
      unsubscribeRefused();
      live.stop();
    },
    stop: async () => history?.stop(),
  };
}
