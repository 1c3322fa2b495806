import { createRouter, type Router } from "../http/router.ts";
import { createChainCheck } from "./audit/chain-check.ts";
import { decisionsInLog } from "./audit/decisions-in-log.ts";
import { heldMoments } from "./audit/held-moments.ts";
import { newestLines } from "./audit/newest-lines.ts";
import { createHistory } from "./history/history.ts";
import { createDecisionMemory } from "./live/decision-memory.ts";
import { createLiveHub, type LiveHubDeps } from "./live/live-hub.ts";
import { meanPrices } from "./mean-prices.ts";
import type { DashboardDeps, DashboardOptions } from "./ports.ts";
import type { UiRoute } from "./route.ts";
import type { UiContext } from "./routes/context.ts";
import { uiRoutes } from "./routes/routes.ts";

/** Routes and caches that need the ledger. They exist while this replica leads. */
export interface LedgerSide {
  readonly router: Router<UiRoute>;
  /** Ends the event streams of open pages. */
  readonly hush: () => void;
  readonly stop: () => Promise<void>;
}

export type LedgerSideParts = Pick<UiContext, "links" | "sessions" | "cookie" | "about"> &
  Pick<LiveHubDeps, "headers">;

export async function openLedgerSide(
  parts: LedgerSideParts,
  { historyFile, limits }: DashboardOptions,
  deps: DashboardDeps,
): Promise<LedgerSide> {
  const { engine, store, clock, log } = deps;
  const history = createHistory({
    engine,
    clock,
    log,
    ...(historyFile === undefined ? {} : { file: historyFile }),
  });
  await history.start();
  const hub = createLiveHub({ ...deps, headers: parts.headers, limits });
  const lines = newestLines(store);
  const held = heldMoments(store, lines);
  const ledger = () => engine.ledger;
  const decisions = createDecisionMemory(() => decisionsInLog({ store, lines, ledger }));
  const means = meanPrices(store, ledger);
  const chain = createChainCheck({ store, clock, now: engine.now });
  const unsubscribe = engine.onCommit((commit) => {
    history.committed(commit);
    decisions.add(commit);
    held.add(commit);
    means.add(commit);
    hub.committed(commit);
  });
  const context = { ...parts, engine, store, log, history, hub, lines, held, decisions, means, chain };
  return {
    router: createRouter(uiRoutes(context)),
    hush: () => {
      unsubscribe();
      hub.stop();
      chain.stop();
    },
    stop: () => history.stop(),
  };
}
