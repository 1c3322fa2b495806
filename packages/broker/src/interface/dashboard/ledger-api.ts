import { createRouter, type Router } from "../http/router.ts";
import { heldMoments } from "./audit/acknowledgement-times.ts";
import { newestLines, recentDecisionsInAudit } from "./audit/audit-tail.ts";
import { createChainCheck } from "./audit/chain-check.ts";
import { createHistory } from "./history/history.ts";
import { createLiveHub, type LiveHubDeps } from "./live/live-hub.ts";
import { createRecentDecisions } from "./live/recent-decisions.ts";
import { createMeanPrices } from "./mean-prices.ts";
import type { DashboardDeps, DashboardOptions } from "./ports.ts";
import type { UiRoute } from "./route.ts";
import type { UiContext } from "./routes/context.ts";
import { uiRoutes } from "./routes/routes.ts";

/** Routes and caches that need the ledger. They exist while this replica leads. */
export interface LedgerApi {
  readonly router: Router<UiRoute>;
  /** Ends the event streams of open pages. */
  readonly stopStreams: () => void;
  readonly stop: () => Promise<void>;
}

export type LedgerApiParts = Pick<UiContext, "links" | "sessions" | "cookie" | "about"> &
  Pick<LiveHubDeps, "headers">;

export async function openLedgerApi(
  parts: LedgerApiParts,
  { historyFile, limits }: DashboardOptions,
  deps: DashboardDeps,
): Promise<LedgerApi> {
  const { engine, store, clock, log } = deps;
  const history = createHistory({
    engine,
    clock,
    log,
    ...(historyFile === undefined ? {} : { file: historyFile }),
  });
  await history.start();
  const hub = createLiveHub({ ...deps, headers: parts.headers, limits });
  const auditTail = newestLines(store);
  const acknowledgementTimes = heldMoments(store, auditTail);
  const ledger = () => engine.ledger;
  const decisions = createRecentDecisions(() => recentDecisionsInAudit({ store, auditTail, ledger }));
  const meanPrices = createMeanPrices(store, ledger);
  const chainCheck = createChainCheck({ store, clock, now: engine.now });
  const unsubscribe = engine.onCommit((commit) => {
    history.committed(commit);
    decisions.add(commit);
    acknowledgementTimes.add(commit);
    meanPrices.add(commit);
    hub.committed(commit);
  });
  const context = {
    ...parts,
    engine,
    store,
    log,
    history,
    hub,
    auditTail,
    acknowledgementTimes,
    decisions,
    meanPrices,
    chainCheck,
  };
  return {
    router: createRouter(uiRoutes(context)),
    stopStreams: () => {
      unsubscribe();
      hub.stop();
      chainCheck.stop();
    },
    stop: () => history.stop(),
  };
}
