import { Fault } from "@resource-broker/base";
import { idMaker, orderedDecisions } from "../shared/make-ids.ts";
import type { RenderContext } from "../shared/render.ts";
import type { HttpDeps, HttpLimits } from "./ports.ts";
import { ReservationIndex } from "./reservation-index.ts";
import { createRouter, type Router } from "./router.ts";
import { healthRoutes } from "./routes/health.ts";
import { allRoutes } from "./routes/routes.ts";
import { createStreamHub, type StreamHub } from "./stream/stream-hub.ts";

/** The routes of a replica: all of them on the leader, only health on a standby. */
export interface LedgerRoutes extends Pick<Router, "match"> {
  readonly lead: () => void;
  /** Why the ledger is not available now; undefined: it is. */
  readonly unavailableBecause: () => Fault | undefined;
  readonly openStreams: () => number;
  readonly stop: () => void;
}

interface LeaderRoutes {
  readonly router: Router;
  readonly hub: StreamHub;
  readonly unsubscribe: () => void;
}

export function ledgerRoutes(
  deps: HttpDeps,
  { headers, limits }: { readonly headers: () => string[]; readonly limits: HttpLimits },
): LedgerRoutes {
  const { engine } = deps;
  const standby = createRouter(healthRoutes(deps));
  const starting = new Fault("overloaded", "the broker is starting; retry");
  let open: LeaderRoutes | undefined;
  const renderContext = (): RenderContext => ({
    ledger: engine.ledger,
    sliceDefaults: deps.policyOrigin().sliceDefaults,
  });

  const lead = (): void => {
    // Created now, because both start from the content of the ledger.
    const index = new ReservationIndex(engine);
    const hub = createStreamHub({ ...deps, renderContext, headers, limits });
    const decision = orderedDecisions(engine.now, deps.randomBytes);
    const ids = { ...idMaker(deps.randomBytes), decision };
    const router = createRouter(allRoutes({ ...deps, renderContext, ids, index, hub }));
    open = { router, hub, unsubscribe: engine.onCommit((commit) => index.update(commit)) };
  };

  return {
    lead,
    match: (method, path) => (open?.router ?? standby).match(method, path),
    unavailableBecause: () => deps.notLeading?.() ?? (open === undefined ? starting : undefined),
    openStreams: () => open?.hub.size() ?? 0,
    stop: () => {
      open?.unsubscribe();
      open?.hub.stop();
    },
  };
}
