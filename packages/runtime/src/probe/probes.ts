import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Clock, Log } from "@resource-broker/base";
import { type KeyPairSource, keyPairFolder } from "./key-pair.ts";
import { faultPage, type Page, type PageDeps, type PageGroup, pagesOf } from "./pages.ts";
import { type ProbeSettings, parseAddress } from "./probe-settings.ts";
import type { Reloads } from "./reloads.ts";

/** Short timeouts, so that idle clients cannot occupy the port. */
const TIMEOUTS = { headersTimeout: 3000, requestTimeout: 3000, connectionsCheckingInterval: 1000 };
const MAX_CONNECTIONS = 1024;

interface ProbeServerOptions {
  readonly port: number;
  readonly host?: string;
}

export interface ProbeServerDeps extends PageDeps {
  readonly log: Log;
  /** Absent: plain HTTP. */
  readonly tls?: KeyPairSource;
}

export interface ProbeServer {
  readonly start: () => Promise<{ readonly port: number }>;
  readonly stop: () => Promise<void>;
}

/** A read-only server for probes and Prometheus, without client certificates. */
export function createProbeServer({ port, host }: ProbeServerOptions, deps: ProbeServerDeps): ProbeServer {
  const { log, tls } = deps;
  const pages = pagesOf(deps);
  let server: Server | undefined;

  const pageFor = async ({ method, url = "" }: IncomingMessage): Promise<Page> => {
    const [path = "", query = ""] = url.split("?", 2);
    const page = pages.get(path);
    if (page === undefined)
      return faultPage("not-found", `there is no such page; try ${[...pages.keys()].join(", ")}`);
    if (method !== "GET" && method !== "HEAD")
      return faultPage("method-not-allowed", "this page takes GET and HEAD");
    return page(new URLSearchParams(query));
  };

  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const failed = (error: unknown): Page => {
      log.error({ err: error, url: request.url }, "the probe port failed");
      return faultPage("internal", "the page could not be created; see the log");
    };
    void pageFor(request)
      .catch(failed)
      .then((page) => send(response, page));
  };

  const open = async (): Promise<Server> => {
    if (tls === undefined) return createServer(TIMEOUTS, answer);
    const pair = await tls.start((next) => secure.setSecureContext(next));
    const secure = createSecureServer({ ...TIMEOUTS, ...pair }, answer);
    return secure;
  };

  return {
    start: async () => {
      server = await open();
      server.maxConnections = MAX_CONNECTIONS;
      server.listen({ port, ...(host === undefined ? {} : { host }) });
      await once(server, "listening");
      server.on("error", (error) => log.error({ err: error, port }, "the probe port has a problem"));
      const address = server.address();
      return { port: address === null || typeof address === "string" ? port : address.port };
    },
    stop: async () => {
      tls?.stop();
      if (server === undefined) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      server = undefined;
      await closed;
    },
  };
}

function send(response: ServerResponse, { status, type, content }: Page): void {
  if (response.destroyed) return;
  const allow = status === 405 ? { Allow: "GET, HEAD" } : {};
  response.writeHead(status, {
    "Content-Type": type,
    "Content-Length": Buffer.byteLength(content),
    Connection: "close",
    ...allow,
  });
  response.end(content);
}

export interface ProbesDeps extends Omit<PageDeps, "groups"> {
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
  /** Files that are read again while the program runs; their state is a check of the probe, also for the certificate of /metrics. */
  readonly reloads: Reloads;
}

export interface Probes {
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The ports for probes and metrics that the settings ask for. */
export function createProbes(settings: ProbeSettings, deps: ProbesDeps): Probes {
  const ports = [
    probeAt(settings, { address: settings["health-probe-bind-address"], group: "health" }, deps),
    probeAt(settings, { address: settings["metrics-bind-address"], group: "metrics" }, deps),
  ].filter((port) => port !== undefined);
  return {
    start: async () => {
      for (const port of ports) await port.start();
    },
    stop: async () => {
      await Promise.all(ports.map((port) => port.stop()));
    },
  };
}

function probeAt(
  settings: ProbeSettings,
  { address, group }: { readonly address: string; readonly group: PageGroup },
  { clock, log, reloads, ...pages }: ProbesDeps,
): ProbeServer | undefined {
  const where = parseAddress(address);
  if (where === undefined || where === "off") return undefined;
  const isSecure = group === "metrics" && settings["metrics-secure"];
  const files = {
    folder: settings["metrics-cert-path"],
    certName: settings["metrics-cert-name"],
    keyName: settings["metrics-cert-key"],
  };
  return createProbeServer(
    { port: where.port, ...(where.host === undefined ? {} : { host: where.host }) },
    {
      ...pages,
      checks: [...pages.checks, reloads.check],
      groups: [group],
      log,
      ...(isSecure
        ? {
            tls: keyPairFolder(files, { clock, log, report: reloads.source("metrics-certificate") }),
          }
        : {}),
    },
  );
}
