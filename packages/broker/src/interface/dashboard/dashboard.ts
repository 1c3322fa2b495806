import { once } from "node:events";
import { Fault, formatTime } from "@resource-broker/contract";
import type { LinkMaker } from "../http/ports.ts";
import { RateLimit } from "../http/rate-limit.ts";
import { createReplier } from "../http/reply.ts";
import type { Serve } from "../http/serve.ts";
import { answerHeaders } from "./answer-headers.ts";
import { type Front, frontOf } from "./front.ts";
import { type LedgerSide, openLedgerSide } from "./ledger-side.ts";
import type { Listener } from "./listener.ts";
import type { DashboardDeps, DashboardOptions } from "./ports.ts";
import { createServe } from "./serve.ts";
import { createLinks } from "./session/links.ts";
import { createSeal } from "./session/seal.ts";
import { createSessions, SESSION_MS } from "./session/sessions.ts";
import { createSignOuts } from "./session/sign-outs.ts";
import { voucherOf } from "./session/voucher.ts";
import { readStaticFiles } from "./static-files.ts";
import { apiUrl } from "./where.ts";

/** The dashboard: the capacity of the fleet in a browser. */
export interface Dashboard extends LinkMaker {
  /** Starts to listen. Until this replica leads, every page shows why no data is available. */
  readonly start: () => Promise<{ readonly port: number }>;
  /** This replica leads now: begins to show the ledger. The engine must have started before. */
  readonly lead: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface Running {
  readonly front: Front;
  readonly listener: Listener;
  readonly serve: Serve;
  readonly lead: () => Promise<void>;
  readonly side: () => LedgerSide | undefined;
}

export function createDashboard(options: DashboardOptions, deps: DashboardDeps): Dashboard {
  const { clock, engine, log } = deps;
  const { limits } = options;
  const links = createLinks(deps);
  let running: Running | undefined;
  let isStopping = false;

  const start = async (): Promise<{ readonly port: number }> => {
    const files = await readStaticFiles(options.folders);
    const front = await frontOf(options, deps);
    const { place, cookie, standingOf, certificates } = front;
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
    let side: LedgerSide | undefined;
    const serve = createServe({
      place,
      door: { standingOf, sessions, cookie, rate, clock },
      replier,
      files,
      router: () => side?.router,
      closedBecause: () => deps.notLeading?.() ?? (side === undefined ? STARTING : undefined),
      log,
      isStopping: () => isStopping,
    });
    const lead = async (): Promise<void> => {
      await signOuts.load();
      const headers = (): string[] => [...replier.headers(), ...answerHeaders("no-store")];
      const opened = await openLedgerSide({ links, sessions, cookie, about, headers }, options, deps);
      side = opened;
      if (!isStopping) return;
      // The dashboard was stopped meanwhile.
      opened.hush();
      await opened.stop();
    };
    const listener = await front.open(serve);
    running = { front, listener, serve, lead, side: () => side };
    log.info({ url: front.url() }, "the dashboard is on; brokerctl dashboard makes a link to it");
    return { port: front.port() };
  };

  const about = {
    version: options.version,
    objectsNamespace: options.objectsNamespace ?? null,
    apiURL: (host: string) => apiUrl(deps.api(), host),
  };

  const stop = async (): Promise<void> => {
    if (running === undefined) return;
    const { listener, serve, side } = running;
    const { server } = listener;
    running = undefined;
    isStopping = true;
    const closed = once(server, "close");
    server.close();
    listener.stop();
    side()?.hush();
    void serve.whenIdle().then(() => server.closeAllConnections());
    const cancel = clock.after(limits.stopTimeoutMs, () => server.closeAllConnections());
    await closed;
    cancel();
    await side()?.stop();
  };

  return {
    start,
    lead: async () => running?.lead(),
    stop,
    makeLink: ({ role, by, certificate }) => {
      if (running === undefined) throw STARTING;
      const voucher = voucherOf(certificate, running.front.certificates());
      const { token, validForMs } = links.issue({ role, by, voucher });
      log.info({ by, role }, "a link to the dashboard was made");
      const expiresAt = formatTime(engine.now() + validForMs);
      return { url: `${running.front.url()}#token=${token}`, role, expiresAt };
    },
  };
}

const STARTING = new Fault("overloaded", "the broker is starting; retry");
