import { once } from "node:events";
import { Fault, formatTime } from "@resource-broker/contract";
import type { Connections } from "../http/connections.ts";
import type { LinkMaker } from "../http/ports.ts";
import { RateLimit } from "../http/rate-limit.ts";
import { createReplier } from "../http/reply.ts";
import type { Serve } from "../http/serve.ts";
import { answerHeaders } from "./answer-headers.ts";
import { certifiedPlace, loopbackPlace } from "./guard.ts";
import { type LedgerSide, openLedgerSide } from "./ledger-side.ts";
import { listen, type Listener, plainListener, secureListener, secureParts } from "./listener.ts";
import type { DashboardDeps, DashboardOptions } from "./ports.ts";
import { createServe } from "./serve.ts";
import { sessionCookie } from "./session/cookie.ts";
import { createLinks } from "./session/links.ts";
import { createSessions } from "./session/sessions.ts";
import { readStaticFiles } from "./static-files.ts";
import { apiUrl, isLoopback, pageUrl } from "./where.ts";

/** The market of capacity in a browser. */
export interface Dashboard extends LinkMaker {
  /** Begins to listen. Until this replica leads, every page says why there is nothing to see. */
  readonly start: () => Promise<{ readonly port: number }>;
  /** This replica leads now: begins to show the ledger. The engine must have started before. */
  readonly lead: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface Running extends Listener {
  readonly serve: Serve;
  readonly url: () => string;
  readonly lead: () => Promise<void>;
  readonly side: () => LedgerSide | undefined;
}

export function createDashboard(options: DashboardOptions, deps: DashboardDeps): Dashboard {
  const { machine, engine } = deps;
  const links = createLinks(deps);
  let running: Running | undefined;
  let isStopping = false;

  const start = async (): Promise<{ readonly port: number }> => {
    const files = await readStaticFiles(options.folders);
    const secure = isLoopback(options.host)
      ? undefined
      : secureParts(await deps.certificates.start(), options, deps);
    // What depends on the port is asked for only once there are callers.
    let port = options.port;
    let side: LedgerSide | undefined;
    const sessions = createSessions(deps);
    const own = () => secure?.inForce.rules().set.own;
    const cookie = sessionCookie({ isSecure: secure !== undefined, port: () => port });
    const replier = createReplier({ ledgerId: () => engine.ledgerId, now: engine.now });
    const serve = createServe({
      place:
        secure === undefined
          ? loopbackPlace({ host: options.host ?? "", port: () => port })
          : certifiedPlace(() => secure.inForce.rules().set.own),
      door: {
        standingOf: standingIn(secure?.connections),
        sessions,
        cookie,
        rate: new RateLimit({
          perSecond: options.limits.requestsPerSecond,
          burst: options.limits.requestBurst,
        }),
        machine,
      },
      replier,
      files,
      router: () => side?.router,
      closedBecause: () => deps.notLeading?.() ?? (side === undefined ? STARTING : undefined),
      log: deps.log,
      isStopping: () => isStopping,
    });
    const listener =
      secure === undefined
        ? plainListener(serve, options, deps)
        : secureListener(serve, { parts: secure, options }, deps);
    port = await listen(listener.server, options);
    const url = (): string => {
      const certificate = own();
      return pageUrl({ host: options.host, port, ...(certificate === undefined ? {} : { certificate }) });
    };
    const about = {
      version: options.version,
      objectsNamespace: options.objectsNamespace ?? null,
      apiURL: (host: string) => apiUrl(deps.api(), host),
    };
    const headers = (): string[] => [...replier.headers(), ...answerHeaders("no-store")];
    const lead = async (): Promise<void> => {
      side = await openLedgerSide({ links, sessions, cookie, about, headers }, options, deps);
    };
    running = { ...listener, serve, url, lead, side: () => side };
    deps.log.info({ url: url() }, "the dashboard is on; brokerctl dashboard makes a link to it");
    return { port };
  };

  const stop = async (): Promise<void> => {
    if (running === undefined) return;
    const { server, serve, side } = running;
    running.stop();
    running = undefined;
    isStopping = true;
    const closed = once(server, "close");
    server.close();
    side()?.hush();
    void serve.whenIdle().then(() => server.closeAllConnections());
    const cancel = machine.after(options.limits.stopTimeoutMs, () => server.closeAllConnections());
    await closed;
    cancel();
    await side()?.stop();
  };

  return {
    start,
    lead: async () => running?.lead(),
    stop,
    makeLink: ({ role, by }) => {
      if (running === undefined) throw STARTING;
      const { token, validForMs } = links.issue({ role, by });
      const expiresAt = formatTime(engine.now() + validForMs);
      return { url: `${running.url()}#token=${token}`, role, expiresAt };
    },
  };
}

const STARTING = new Fault("overloaded", "the broker is starting; ask again");

function standingIn(connections: Connections | undefined) {
  return (socket: Parameters<Connections["standingOf"]>[0]) =>
    connections?.standingOf(socket) ?? ({ kind: "anonymous" } as const);
}
