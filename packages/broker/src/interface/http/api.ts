import { Fault } from "@resource-broker/base";
import { createInsight, type Insight } from "../insight/insight.ts";
import { DEFAULT_LIVE_LIMITS } from "../insight/live/live-hub.ts";
import { idMaker, orderedDecisions } from "../shared/make-ids.ts";
import type { RenderContext } from "../shared/render.ts";
import { RateLimit } from "./authorize.ts";
import { Backpressure } from "./backpressure.ts";
import type { ApiDeps, HttpLimits } from "./ports.ts";
import { createReplier, createRequestHandler, type Port, type RequestHandler } from "./request-handler.ts";
import { ReservationIndex } from "./reservation-index.ts";
import { createRouter, type Route, type Router } from "./route.ts";
import { healthRoutes } from "./routes/clusters.ts";
import { allRoutes } from "./routes/routes.ts";
import { createStreamHub, type StreamHub } from "./stream/stream-hub.ts";

/** The API behind every port: one set of routes, one authorization, one rate limit. */
export interface Api {
  /** This replica leads now: begins to answer for the ledger. The engine must have started before. */
  readonly lead: () => Promise<void>;
  /** Answers the calls of one port. `own` are calls that only this port takes. */
  readonly handlerFor: (port: Port, own?: readonly Route[]) => RequestHandler;
  /** Why the ledger is not available now; undefined: it is. */
  readonly unavailableBecause: () => Fault | undefined;
  readonly openStreams: () => number;
  /** Ends the streams; a port calls it when it takes no more calls. */
  readonly stopStreams: () => void;
  /** Writes what is kept beside the ledger. */
  readonly stop: () => Promise<void>;
}

interface LeaderRoutes {
  readonly routes: readonly Route[];
  readonly hub: StreamHub;
  readonly insight: Insight;
  readonly unsubscribe: () => void;
}

export function createApi(limits: HttpLimits, deps: ApiDeps): Api {
  const { engine, clock, log, metrics } = deps;
  const replier = createReplier({ ledgerId: () => engine.ledgerId, now: engine.now });
  const backpressure = new Backpressure(clock.after);
  const starting = new Fault("overloaded", "the broker is starting; retry");
  let open: LeaderRoutes | undefined;
  const unavailableBecause = (): Fault | undefined =>
    deps.notLeading?.() ?? (open === undefined ? starting : undefined);
  const authorization = {
    rate: new RateLimit({ perSecond: limits.requestsPerSecond, burst: limits.requestBurst }),
    now: engine.now,
    wallMs: clock.wallMs,
    maxSheddableInFlight: limits.maxSheddableInFlight,
    unavailableBecause,
  };
  const renderContext = (): RenderContext => ({
    ledger: engine.ledger,
    sliceDefaults: deps.policyOrigin().sliceDefaults,
  });

  const lead = async (): Promise<void> => {
    if (open !== undefined) return;
    // Created now, because they start from the content of the ledger.
    const index = new ReservationIndex(engine);
    const hub = createStreamHub({ ...deps, renderContext, headers: replier.headers, limits });
    const decision = orderedDecisions(engine.now, deps.randomBytes);
    const ids = { ...idMaker(deps.randomBytes), decision };
    const insight = createInsight({
      ...deps,
      renderContext,
      headers: replier.headers,
      limits: deps.liveLimits ?? DEFAULT_LIVE_LIMITS,
    });
    const routes = allRoutes({ ...deps, renderContext, ids, index, hub, insight });
    open = { routes, hub, insight, unsubscribe: engine.onCommit((commit) => index.update(commit)) };
    await insight.start();
  };

  /** All routes on the leader, only health on a standby. */
  const routerOf = (own: readonly Route[]): Pick<Router, "match"> => {
    const standby = createRouter([...healthRoutes(deps), ...own]);
    let leader: Router | undefined;
    const current = (): Router => {
      if (open === undefined) return standby;
      leader ??= createRouter([...open.routes, ...own]);
      return leader;
    };
    return { match: (method, path) => current().match(method, path) };
  };

  return {
    lead,
    handlerFor: (port, own = []) =>
      createRequestHandler({
        router: routerOf(own),
        port,
        replier,
        authorization,
        backpressure,
        log,
        metrics,
      }),
    unavailableBecause,
    openStreams: () => (open === undefined ? 0 : open.hub.size() + open.insight.live.size()),
    stopStreams: () => {
      open?.unsubscribe();
      open?.hub.stop();
      open?.insight.stopStreams();
      backpressure.stop();
    },
    stop: async () => open?.insight.stop(),
  };
}
