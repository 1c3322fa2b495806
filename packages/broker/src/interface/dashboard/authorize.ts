import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { type Clock, Fault } from "@resource-broker/base";
import { type ConnectionIdentity, refusedCertificate } from "../http/authenticate.ts";
import type { RateLimit } from "../http/rate-limit.ts";
import type { UiRoute } from "./route.ts";
import type { SessionCookie } from "./session/cookie.ts";
import type { Session, Sessions } from "./session/sessions.ts";

export interface AuthorizeDeps {
  readonly identityOf: (socket: TLSSocket) => ConnectionIdentity;
  readonly sessions: Pick<Sessions, "find">;
  readonly cookie: Pick<SessionCookie, "read">;
  readonly rate: RateLimit;
  readonly clock: Pick<Clock, "wallMs" | "monotonicMs">;
}

export interface DashboardCaller {
  readonly session: Session | undefined;
  /** Of the session, where a cookie brought one. */
  readonly token: string | undefined;
}

/** Authenticates a request by an admin's certificate or by a session cookie. Throws a Fault for other certificates. */
export function authenticate({ socket, headers }: IncomingMessage, deps: AuthorizeDeps): DashboardCaller {
  const identity = socket instanceof TLSSocket ? deps.identityOf(socket) : undefined;
  if (identity?.kind === "refused") throw identity.fault;
  if (identity?.kind === "caller") return { session: byCertificate(identity, deps), token: undefined };
  const token = deps.cookie.read(headers.cookie);
  return { session: token === undefined ? undefined : deps.sessions.find(token), token };
}

function byCertificate(
  { caller, validToMs }: Extract<ConnectionIdentity, { kind: "caller" }>,
  { clock }: AuthorizeDeps,
): Session {
  const { clusterId: name, isAdmin } = caller;
  if (!isAdmin) {
    const message = `the certificate is that of cluster ${name}: the dashboard takes an admin's, or none and a link from brokerctl dashboard`;
    throw new Fault("forbidden", message);
  }
  const leftMs = (): number => Math.max(0, validToMs - clock.wallMs());
  // The certificate was valid when the connection was made.
  if (leftMs() === 0) throw refusedCertificate("it has expired; renew it");
  return { role: "admin", name, by: "certificate", id: `certificate of ${name}`, leftMs };
}

/** Authorizes a call. Throws the Fault of a refused call. */
export function authorize({ access }: UiRoute, { session }: DashboardCaller): void {
  if (access === "anyone") return;
  if (session === undefined) {
    const message = "you are not signed in: open a new link, which brokerctl dashboard prints";
    throw new Fault("no-certificate", message);
  }
  if (access === "admin" && session.role !== "admin")
    throw new Fault("forbidden", "a viewer may read everything but change nothing");
}

/** Rate limit per session, or per address without a session. */
export function limitRate(
  { session }: DashboardCaller,
  address: string | undefined,
  { rate, clock }: AuthorizeDeps,
): void {
  const retryAfterMs = rate.take(session?.id ?? `address ${address ?? ""}`, clock.monotonicMs());
  if (retryAfterMs === 0) return;
  const message = "this browser calls too often; wait as long as Retry-After says";
  throw new Fault("rate-limited", message, { details: { retryAfterMs } });
}
