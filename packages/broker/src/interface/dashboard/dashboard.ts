import { once } from "node:events";
import { Fault, formatTime } from "@resource-broker/base";
import type { LinkMaker } from "../http/ports.ts";
import { RateLimit } from "../http/rate-limit.ts";
import { createReplier } from "../http/reply.ts";
import type { RequestHandler } from "../http/request-handler.ts";
import { createEndpoint, type DashboardEndpoint, type Listener } from "./endpoint.ts";
import { type LedgerApi, openLedgerApi } from "./ledger-api.ts";
import type { DashboardDeps, DashboardOptions } from "./ports.ts";
import { createRequestHandler } from "./request-handler.ts";
import { certificateRefOf } from "./session/certificate-ref.ts";
import { createLinks } from "./session/links.ts";
import { createSeal } from "./session/seal.ts";
import { createSessions, SESSION_MS } from "./session/sessions.ts";
import { createSignOuts } from "./session/sign-outs.ts";
import { readStaticFiles, responseHeaders } from "./static-files.ts";
import { apiUrl } from "./urls.ts";

/** The dashboard: the capacity of the fleet in a browser. */
export interface Dashboard extends LinkMaker {
  /** Starts to listen. Until this replica leads, every page shows why no data is available. */
  readonly start: () => Promise<{ readonly port: number }>;
  /** This replica leads now: begins to show the ledger. The engine must have started before. */
  readonly lead: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface Running {
  readonly endpoint: DashboardEndpoint;
  readonly listener: Listener;
  readonly serve: RequestHandler;
  readonly lead: () => Promise<void>;
  readonly ledgerApi: () => LedgerApi | undefined;
}

export function createDashboard(options: DashboardOptions, deps: DashboardDeps): Dashboard {
  const { clock, engine, log } = deps;
  const { limits } = options;
  const links = createLinks(deps);
  let running: Running | undefined;
  let isStopping = false;

  const start = async (): Promise<{ readonly port: number }> => {
    const files = await readStaticFiles(options.folders);
    const endpoint = await createEndpoint(options, deps);
    const { origin, cookie, identityOf, certificates } = endpoint;
    const file = options.signOutsFile;
    const signOuts = createSignOuts({ file, sessionMs: SESSION_MS, clock, log });
    const seal = createSeal({
      privateKey: () => certificates().files.key,
      // A new admin unit invalidates sessions that were created under the old one.
      realm: () => `${engine.ledgerId}\n${options.adminUnit}`,
    });
    const { randomBytes } = deps;
    const sessions = createSessions({ clock, randomBytes, certificates, seal, signOuts });
    const rate = new RateLimit({ perSecond: limits.requestsPerSecond, burst: limits.requestBurst });
    const replier = createReplier({ ledgerId: () => engine.ledgerId, now: engine.now });
    let ledgerApi: LedgerApi | undefined;
    const serve = createRequestHandler({
      origin,
      authorization: { identityOf, sessions, cookie, rate, clock },
      replier,
      files,
      router: () => ledgerApi?.router,
      unavailableBecause: () => deps.notLeading?.() ?? (ledgerApi === undefined ? STARTING : undefined),
      log,
      isStopping: () => isStopping,
    });
    const lead = async (): Promise<void> => {
      await signOuts.load();
      const headers = (): string[] => [...replier.headers(), ...responseHeaders("no-store")];
      const opened = await openLedgerApi({ links, sessions, cookie, about, headers }, options, deps);
      ledgerApi = opened;
      if (!isStopping) return;
      // The dashboard was stopped meanwhile.
      opened.stopStreams();
      await opened.stop();
    };
    const listener = await endpoint.listen(serve);
    running = { endpoint, listener, serve, lead, ledgerApi: () => ledgerApi };
    log.info({ url: endpoint.url() }, "the dashboard is on; brokerctl dashboard makes a link to it");
    return { port: endpoint.port() };
  };

  const about = {
    version: options.version,
    objectsNamespace: options.objectsNamespace ?? null,
    apiURL: (host: string) => apiUrl(deps.api(), host),
  };

  const stop = async (): Promise<void> => {
    if (running === undefined) return;
    const { listener, serve, ledgerApi } = running;
    const { server } = listener;
    running = undefined;
    isStopping = true;
    const closed = once(server, "close");
    server.close();
    listener.stop();
    ledgerApi()?.stopStreams();
    void serve.whenIdle().then(() => server.closeAllConnections());
    const cancel = clock.after(limits.stopTimeoutMs, () => server.closeAllConnections());
    await closed;
    cancel();
    await ledgerApi()?.stop();
  };

  return {
    start,
    lead: async () => running?.lead(),
    stop,
    makeLink: ({ role, by, certificate }) => {
      if (running === undefined) throw STARTING;
      const certificateRef = certificateRefOf(certificate, running.endpoint.certificates());
      const { token, validForMs } = links.issue({ role, by, certificateRef });
      log.info({ by, role }, "a link to the dashboard was made");
      const expiresAt = formatTime(engine.now() + validForMs);
      return { url: `${running.endpoint.url()}#token=${token}`, role, expiresAt };
    },
  };
}

const STARTING = new Fault("overloaded", "the broker is starting; retry");
