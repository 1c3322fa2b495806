import type { X509Certificate } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { Fault, formatTime } from "@resource-broker/base";
import { isLoopback, publicKeyHash } from "@resource-broker/runtime";
import type { Api } from "../http/api.ts";
import type { ConnectionIdentity } from "../http/connections.ts";
import { DEFAULT_HTTP_LIMITS, type LinkMaker } from "../http/ports.ts";
import type { RequestHandler } from "../http/request-handler.ts";
import type { Session } from "../http/route.ts";
import { type Listener, type ListenerPort, startListener } from "../http/server.ts";
import { certificateOrigin, checkHost, checkOrigin, loopbackOrigin, pageUrl } from "./origin.ts";
import { createPages, readStaticFiles, type StaticFiles } from "./pages.ts";
import type { DashboardDeps, DashboardOptions } from "./ports.ts";
import { sessionCookie, sessionRoutes } from "./session/session-routes.ts";
import { certificateRefOf, createLinks, createSessions, SESSION_MS } from "./session/sessions.ts";
import { createSignOuts } from "./session/sign-outs.ts";

const LIMITS = { ...DEFAULT_HTTP_LIMITS, maxSockets: 1000, stopTimeoutMs: 2000 };
const CALLS = "/api/";

/** The dashboard: its pages, and the API for browsers that are signed in. */
export interface Dashboard extends LinkMaker {
  /** Starts to listen. Until this replica leads, every page shows why no data is available. */
  readonly start: (api: Api) => Promise<{ readonly port: number }>;
  readonly stop: () => Promise<void>;
}

export function createDashboard(options: DashboardOptions, deps: DashboardDeps): Dashboard {
  const { clock, engine, log } = deps;
  const { adminUnit, host } = options;
  const links = createLinks(deps);
  // Only this machine can reach a loopback address; from elsewhere TLS is needed.
  const isPlain = isLoopback(host);
  let listener: Listener | undefined;
  const port = (): number => listener?.port ?? 0;
  const cookie = sessionCookie({ isSecure: !isPlain, port });
  const signOuts = createSignOuts({ file: options.signOutsFile, sessionMs: SESSION_MS, clock, log });

  const start = async (api: Api): Promise<{ readonly port: number }> => {
    const files = await readStaticFiles(options.folders);
    await signOuts.load();
    const serveWith = (parts: ListenerPort): RequestHandler => serving(api, files, parts);
    const limits = LIMITS;
    const { host: _, ...common } = options;
    listener = await startListener(
      {
        ...common,
        ...(host === undefined ? {} : { host }),
        limits,
        portName: "the dashboard's port",
        isPlain,
      },
      { ...deps, api, serveWith },
    );
    log.info({ url: url(listener) }, "the dashboard is on; brokerctl dashboard makes a link to it");
    return listener;
  };

  const url = ({ rules }: Listener): string =>
    pageUrl({ host, port: port(), ...(isPlain ? {} : { certificate: rules().set.own }) });

  const serving = (
    api: Api,
    files: StaticFiles,
    { connections, rules, isStopping }: ListenerPort,
  ): RequestHandler => {
    const origin = isPlain
      ? loopbackOrigin({ host: host ?? "localhost", port })
      : certificateOrigin(() => rules().set.own);
    // Another admin unit or another authority of admins invalidates sessions that were created under the old one.
    const realm = () => [engine.ledgerId, adminUnit, ...adminKeys(rules().adminAuthorities)].join("\n");
    const sessions = createSessions({ ...deps, certificates: () => rules().set, realm, signOuts });

    const identityOf = async (request: IncomingMessage): Promise<ConnectionIdentity> => {
      const { method = "", headers, socket } = request;
      checkOrigin({ method, headers, host: checkHost(request, origin) }, origin);
      const unavailable = api.unavailableBecause();
      if (unavailable !== undefined) throw unavailable;
      const shown = certifiedIdentity(request);
      if (shown.kind !== "anonymous") return shown;
      const token = cookie.read(headers.cookie);
      const session = token === undefined ? undefined : await sessions.find(token);
      return session === undefined
        ? { kind: "anonymous", rateKey: `address ${socket.remoteAddress ?? ""}` }
        : signedIn(session, Number.POSITIVE_INFINITY);
    };

    /** The identity from a client certificate: only an admin's gives access, to pages as to calls. */
    const certifiedIdentity = ({ socket }: IncomingMessage): ConnectionIdentity => {
      const identity = socket instanceof TLSSocket ? connections.identityOf(socket) : ANONYMOUS;
      if (identity.kind !== "caller") return identity;
      const { caller, validToMs } = identity;
      const { clusterId: name, isAdmin } = caller;
      if (!isAdmin) {
        const message = `the certificate is that of cluster ${name}: the dashboard takes an admin's, or none and a link from brokerctl dashboard`;
        return { kind: "refused", fault: new Fault("forbidden", message) };
      }
      const leftMs = (): number => Math.max(0, validToMs - clock.wallMs());
      return signedIn(
        { role: "admin", name, by: "certificate", id: `certificate of ${name}`, leftMs },
        validToMs,
      );
    };

    const anonymousMessage = "you are not signed in: open a new link, which brokerctl dashboard prints";
    const calls = api.handlerFor(
      { identityOf, certificateOf: () => undefined, anonymousMessage, isStopping },
      sessionRoutes({ links, sessions, cookie }, options, deps),
    );
    const pages = createPages(files, {
      check: (request) => {
        checkHost(request, origin);
        const identity = certifiedIdentity(request);
        const fault = identity.kind === "refused" ? identity.fault : api.unavailableBecause();
        if (fault !== undefined) throw fault;
      },
      log,
    });
    return {
      answer: (request, response) => {
        pages.setHeaders(response);
        if (request.url?.startsWith(CALLS) === true) return calls.answer(request, response);
        pages.answer(request, response);
        return Promise.resolve();
      },
      whenIdle: calls.whenIdle,
    };
  };

  return {
    start,
    stop: async () => listener?.stop(),
    makeLink: ({ role, by, certificate }) => {
      if (listener === undefined) throw new Fault("overloaded", "the broker is starting; retry");
      const certificateRef = certificateRefOf(certificate, listener.rules().set);
      const { token, validForMs } = links.issue({ role, by, certificateRef });
      log.info({ by, role }, "a link to the dashboard was made");
      return {
        url: `${url(listener)}#token=${token}`,
        role,
        expiresAt: formatTime(engine.now() + validForMs),
      };
    },
  };
}

/** An authority that is renewed with its key stays the same. */
function adminKeys(authorities: readonly X509Certificate[] = []): string[] {
  return authorities.map(({ publicKey }) => publicKeyHash(publicKey)).sort();
}

const ANONYMOUS: ConnectionIdentity = { kind: "anonymous" };

/** A viewer sees what an admin sees; `authorize` lets it change nothing. */
function signedIn(session: Session, validToMs: number): ConnectionIdentity {
  const caller = { clusterId: session.name, isAdmin: true };
  return { kind: "caller", caller, validToMs, intermediates: [], session };
}
