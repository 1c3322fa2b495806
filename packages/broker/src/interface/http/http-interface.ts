import { once } from "node:events";
import type { Server } from "node:https";
import type { CertificateSet } from "@resource-broker/runtime";
import { CertificatesInForce } from "./authenticate.ts";
import { Backpressure } from "./backpressure.ts";
import { Connections } from "./connections.ts";
import { type LedgerRoutes, ledgerRoutes } from "./ledger-routes.ts";
import type { HttpDeps, HttpOptions } from "./ports.ts";
import { RateLimit } from "./rate-limit.ts";
import { createReplier } from "./reply.ts";
import { createRequestHandler, type RequestHandler } from "./request-handler.ts";
import { closeExpiredConnections, createHttpsServer, listen, secureContext } from "./server.ts";

export interface HttpInterface {
  /** Begins to take calls. A replica that does not lead yet answers all but the health page with 503. */
  readonly start: () => Promise<{ readonly port: number }>;
  /** This replica leads now: begins to answer for the ledger. The engine must have started before. */
  readonly lead: () => void;
  /** Takes no new calls, answers those under way, ends the streams. */
  readonly stop: () => Promise<void>;
  readonly openStreams: () => number;
  readonly openConnections: () => number;
}

/** The broker over HTTPS with client certificates. */
export function createHttpInterface(options: HttpOptions, deps: HttpDeps): HttpInterface {
  const { engine, certificates, clock, log, metrics } = deps;
  const { limits, adminUnit, tlsMinVersion } = options;
  let running: Running | undefined;
  let isStopping = false;

  const start = async (): Promise<{ readonly port: number }> => {
    const set = await certificates.start();
    const { handshakeTimeoutMs, maxSocketsPerCluster } = limits;
    const inForce = new CertificatesInForce(set, { adminUnit, handshakeTimeoutMs, clock });
    const connections = new Connections({
      maxPerCluster: maxSocketsPerCluster,
      rules: () => inForce.rules(),
    });
    const replier = createReplier({ ledgerId: () => engine.ledgerId, now: engine.now });
    const ledger = ledgerRoutes(deps, { headers: replier.headers, limits });
    const rate = new RateLimit({ perSecond: limits.requestsPerSecond, burst: limits.requestBurst });
    const { maxSheddableInFlight } = limits;
    const { unavailableBecause } = ledger;
    const authorization = {
      rate,
      now: engine.now,
      wallMs: clock.wallMs,
      maxSheddableInFlight,
      unavailableBecause,
    };
    const backpressure = new Backpressure(clock.after);
    const isClosing = (): boolean => isStopping;
    const serve = createRequestHandler({
      router: ledger,
      connections,
      replier,
      authorization,
      backpressure,
      log,
      metrics,
      isStopping: isClosing,
    });
    const server = createHttpsServer(options, { connections, serve, set, log, portName: "the API port" });

    const useCertificates = (next: CertificateSet): void => {
      const hasLostAuthorities = inForce.replace(next);
      server.setSecureContext(secureContext(next, tlsMinVersion));
      void connections.recheckAll(hasLostAuthorities).then((closed) => {
        if (closed > 0) log.info({ closed }, "connections closed: their certificates are no longer valid");
      });
    };
    const cleanups = [
      certificates.onChange(useCertificates),
      closeExpiredConnections(connections, clock),
      () => certificates.stop(),
      () => ledger.stop(),
      () => backpressure.stop(),
    ];
    if (deps.notLeading?.() === undefined) ledger.lead();
    const port = await listen(server, options);
    running = { server, serve, ledger, connections, cleanups };
    return { port };
  };

  const stop = async (): Promise<void> => {
    if (running === undefined) return;
    const { server, serve, cleanups } = running;
    running = undefined;
    isStopping = true;
    const closed = once(server, "close");
    server.close();
    for (const end of cleanups) end();
    // Node counts an unused connection as busy: close all connections after the last reply.
    void serve.whenIdle().then(() => server.closeAllConnections());
    const cancel = clock.after(limits.stopTimeoutMs, () => server.closeAllConnections());
    await closed;
    cancel();
  };

  return {
    start,
    lead: () => running?.ledger.lead(),
    stop,
    openStreams: () => running?.ledger.openStreams() ?? 0,
    openConnections: () => running?.connections.size ?? 0,
  };
}

interface Running {
  readonly server: Server;
  readonly serve: RequestHandler;
  readonly ledger: LedgerRoutes;
  readonly connections: Connections;
  readonly cleanups: readonly (() => unknown)[];
}
