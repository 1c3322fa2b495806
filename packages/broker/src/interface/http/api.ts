import type { Socket } from "node:net";
import { Fault } from "@resource-broker/base";
import { PATH } from "@resource-broker/contract";
import type { ClusterId, MemberEvent } from "@resource-broker/domain";
import { createFailureLog } from "../../enrollment/failure-log.ts";
import { createInsight, type Insight } from "../insight/insight.ts";
import { DEFAULT_LIVE_LIMITS } from "../insight/live/live-hub.ts";
import { idMaker, orderedDecisions } from "../shared/make-ids.ts";
import type { RenderContext } from "../shared/render.ts";
import { createIdentityCheck } from "./agent-identity.ts";
import { RateLimit } from "./authorize.ts";
import { Backpressure } from "./backpressure.ts";
import { enrollmentRate } from "./enrollment-rate.ts";
import type { ApiDeps, HttpLimits } from "./ports.ts";
import { createReplier, createRequestHandler, type Port, type RequestHandler } from "./request-handler.ts";
import { ReservationIndex } from "./reservation-index.ts";
import { createRouter, type Route, type Router } from "./route.ts";
import { healthRoutes } from "./routes/clusters.ts";
import { allRoutes } from "./routes/routes.ts";
import { Statements } from "./statements/statements.ts";
import { createStreamHub, type StreamHub } from "./stream/stream-hub.ts";

/** The API behind every port: one set of routes, one authorization, one rate limit. */
export interface Api {
  /** This replica leads now: begins to answer for the ledger. The engine must have started before. */
  readonly lead: () => Promise<void>;
  /** Answers the calls of one port. `own` are calls that only this port takes. */
  readonly handlerFor: (port: Port, own?: readonly Route[]) => RequestHandler;
  /** Why the ledger is not available now; undefined: it is. */
  readonly unavailableBecause: () => Fault | undefined;
  /** Called with a cluster's connections that must end, when the reason is durable; the returned function unsubscribes. */
  readonly onIdentityChange: (listener: IdentityListener) => () => void;
  readonly openStreams: () => number;
  /** Statements between clusters that are kept. */
  readonly statements: () => number;
  /** Ends the streams; a port calls it when it takes no more calls. */
  readonly stopStreams: () => void;
  /** Writes what is kept beside the ledger. */
  readonly stop: () => Promise<void>;
}

/** `isOver`: of a connection of this cluster, whether whoever uses it is no longer its agent. */
type IdentityListener = (clusterId: ClusterId, isOver: (socket: Socket) => boolean) => void;

interface LeaderRoutes {
  readonly routes: readonly Route[];
  readonly hub: StreamHub;
  readonly insight: Insight;
  readonly statements: Statements;
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
  const identityListeners = new Set<IdentityListener>();
  const enrollmentFailures = createFailureLog({ clock, log });
  const identityCheck = createIdentityCheck(engine);
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

  /** A stream is authorized once, when it opens: it must not outlive the right to open it. */
  const endConnections = ({ kind, member: { clusterId, key } }: MemberEvent): void => {
    const isOver = (socket: Socket): boolean =>
      kind === "member-evicted" || (key !== undefined && identityCheck.hasCalledWithout(key, socket));
    for (const listener of identityListeners) listener(clusterId, isOver);
  };

  const lead = async (): Promise<void> => {
    if (open !== undefined) return;
    // Created now, because they start from the content of the ledger.
    const index = new ReservationIndex(engine);
    const statements = new Statements({ engine, index, limits });
    const hub = createStreamHub({ ...deps, renderContext, headers: replier.headers, limits, statements });
    const decision = orderedDecisions(engine.now, deps.randomBytes);
    const ids = { ...idMaker(deps.randomBytes), decision };
    const insight = createInsight({
      ...deps,
      renderContext,
      headers: replier.headers,
      limits: deps.liveLimits ?? DEFAULT_LIVE_LIMITS,
    });
    const renewals = new RateLimit({ perSecond: limits.renewalsPerSecond, burst: limits.renewalBurst });
    const takeEnrollment = enrollmentRate(limits, engine.now);
    const joining = { limits, takeEnrollment, enrollmentFailures, renewals, statements };
    const routes = allRoutes({ ...deps, ...joining, renderContext, ids, index, hub, insight });
    const unsubscribe = engine.onCommit((commit) => {
      index.update(commit);
      for (const event of commit.events) if ("member" in event) endConnections(event);
    });
    open = { routes, hub, insight, statements, unsubscribe };
    await insight.start();
  };

  /** All routes on the leader, only health on a standby. */
  const routerOf = ({ takesEnrollment }: Port, own: readonly Route[]): Pick<Router, "match"> => {
    const isServed = ({ access }: Route): boolean => takesEnrollment === true || access !== "enrollment";
    const standby = createRouter([...healthRoutes(deps), ...UNAVAILABLE.filter(isServed), ...own]);
    let leader: Router | undefined;
    const current = (): Router => {
      if (open === undefined) return standby;
      leader ??= createRouter([...open.routes.filter(isServed), ...own]);
      return leader;
    };
    return { match: (method, path) => current().match(method, path) };
  };

  return {
    lead,
    handlerFor: (port, own = []) =>
      createRequestHandler({
        router: routerOf(port, own),
        identityCheck,
        port,
        replier,
        authorization,
        backpressure,
        log,
        metrics,
      }),
    unavailableBecause,
    onIdentityChange: (listener) => {
      identityListeners.add(listener);
      return () => identityListeners.delete(listener);
    },
    statements: () => open?.statements.size ?? 0,
    openStreams: () => (open === undefined ? 0 : open.hub.size() + open.insight.live.size()),
    stopStreams: () => {
      open?.unsubscribe();
      open?.hub.stop();
      open?.insight.stopStreams();
      enrollmentFailures.stop();
      backpressure.stop();
    },
    stop: async () => open?.insight.stop(),
  };
}

/** Authorization refuses them while this replica does not lead. */
const unavailable = (): never => {
  throw new Fault("overloaded", "the broker is starting; retry");
};
/** New agents have no certificate: a standby must tell them to ask another replica, not that they lack one. */
const UNAVAILABLE: readonly Route[] = [
  { method: "GET", path: PATH.trust, access: "enrollment", handle: unavailable },
  { method: "POST", path: PATH.enroll, access: "enrollment", handle: unavailable },
];
