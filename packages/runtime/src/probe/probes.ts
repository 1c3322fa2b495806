import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import { type Clock, errorText, type Log } from "@resource-broker/base";
import { watchFolder } from "../certificates/folder-watch.ts";
import { readText } from "../files/read-text.ts";
import { faultPage, type Page, type PageDeps, type PageGroup, pagesOf } from "./pages.ts";
import { type ProbeSettings, parseAddress } from "./probe-settings.ts";
import type { Reloads, ReportReload } from "./reloads.ts";

const DEBOUNCE_MS = 200;
const POLL_MS = 30_000;

interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

interface KeyPairFiles {
  readonly folder: string;
  readonly certName: string;
  readonly keyName: string;
}

/** A server certificate in files that may be replaced. */
interface KeyPairSource {
  /** The pair as it is now; `use` gets every later one that fits together. */
  readonly start: (use: (pair: KeyPair) => void) => Promise<KeyPair>;
  readonly stop: () => void;
}

interface KeyPairDeps {
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
  /** Told of each reload that fails, and of the next one that works. */
  readonly report?: ReportReload;
}

export function keyPairFolder(
  { folder, certName, keyName }: KeyPairFiles,
  { clock, log, report = () => undefined }: KeyPairDeps,
): KeyPairSource {
  let lastProblem: string | undefined;
  let unwatch = (): void => undefined;

  const load = async (): Promise<KeyPair> => {
    const [cert, key] = await Promise.all([certName, keyName].map((name) => readText(join(folder, name))));
    const pair = { cert: cert ?? "", key: key ?? "" };
    createSecureContext(pair);
    return pair;
  };

  return {
    start: async (use) => {
      let current = await load();
      const reload = async (): Promise<void> => {
        try {
          const next = await load();
          lastProblem = undefined;
          report(undefined);
          if (next.cert === current.cert && next.key === current.key) return;
          current = next;
          use(next);
        } catch (error) {
          const problem = errorText(error);
          report(problem);
          if (problem === lastProblem) return;
          lastProblem = problem;
          log.warn(
            { folder, problem },
            "certificate of the metrics port not reloaded; the old one stays in use",
          );
        }
      };
      unwatch = watchFolder({
        folder,
        clock,
        debounceMs: DEBOUNCE_MS,
        pollMs: POLL_MS,
        onChange: () => void reload(),
      });
      return current;
    },
    stop: () => unwatch(),
  };
}

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
