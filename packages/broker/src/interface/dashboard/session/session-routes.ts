import { Fault, formatTime } from "@resource-broker/base";
import { PATH, type SessionDTO, signInSchema } from "@resource-broker/contract";
import { type Call, ok, type PlainAnswer, type Route, type Session } from "../../http/route.ts";
import { checked } from "../../shared/checked.ts";
import { apiUrl } from "../origin.ts";
import type { DashboardDeps, DashboardOptions } from "../ports.ts";
import type { Links, Sessions } from "./sessions.ts";

/** Only the token of a link is expected. */
const BODY_BYTES = 1024;
/** Sessions take some four hundred characters. */
const MAX_TOKEN_LENGTH = 1024;

/** The cookie that holds a session's token. No script can read it, and no other site makes a browser send it. */
export interface SessionCookie {
  readonly read: (header: string | undefined) => string | undefined;
  readonly set: (token: string, maxAgeMs: number) => string;
  readonly clear: () => string;
}

/**
 * Browsers keep cookies by host and not by port: with its port in the name, the dashboards of two brokers on one machine
 * do not sign each other out. Over TLS the prefix makes browsers insist on `Secure` and on this very host.
 */
export function sessionCookie(options: {
  readonly isSecure: boolean;
  /** Known once somebody listens. */
  readonly port: () => number;
}): SessionCookie {
  const nameNow = (): string =>
    options.isSecure ? "__Host-broker-dashboard" : `broker-dashboard-${options.port()}`;
  const attributes = `Path=/; HttpOnly; SameSite=Strict${options.isSecure ? "; Secure" : ""}`;
  return {
    read: (header = "") => {
      const start = `${nameNow()}=`;
      const values = header
        .split(";")
        .map((part) => part.trim())
        .filter((part) => part.startsWith(start))
        .map((part) => part.slice(start.length));
      return values.find((value) => value !== "" && value.length <= MAX_TOKEN_LENGTH);
    },
    set: (token, maxAgeMs) => `${nameNow()}=${token}; Max-Age=${Math.floor(maxAgeMs / 1000)}; ${attributes}`,
    clear: () => `${nameNow()}=; Max-Age=0; ${attributes}`,
  };
}

interface SessionParts {
  readonly links: Links;
  readonly sessions: Sessions;
  readonly cookie: SessionCookie;
}

/** Signing in by a link, once; and out. */
export function sessionRoutes(
  { links, sessions, cookie }: SessionParts,
  { version, objectsNamespace }: Pick<DashboardOptions, "version" | "objectsNamespace">,
  { engine, log, api }: Pick<DashboardDeps, "engine" | "log" | "api">,
): readonly Route[] {
  const view = (session: Session, { headers: { host = "" } }: Call): SessionDTO => ({
    role: session.role,
    name: session.name,
    by: session.by,
    expiresAt: formatTime(engine.now() + session.leftMs()),
    ledgerID: engine.ledgerId,
    version,
    apiURL: apiUrl(api(), host),
    objectsNamespace: objectsNamespace ?? null,
    now: formatTime(engine.now()),
  });

  const signIn = async (call: Call): Promise<PlainAnswer> => {
    const { token } = checked(signInSchema, call.body);
    const link = links.redeem(token);
    const opened = link === undefined ? undefined : await sessions.open(link);
    // The session is invalid if the admin's certificate is no longer valid.
    if (opened === undefined || opened.session.leftMs() === 0) {
      const message = "this link was used already, or is too old: make a new one with brokerctl dashboard";
      throw new Fault("no-certificate", message);
    }
    // A cookie from before must not live on beside the new one.
    await endSession(call);
    const { session } = opened;
    log.info({ name: session.name, role: session.role }, "a browser signed in to the dashboard");
    const set = cookie.set(opened.token, session.leftMs());
    return { ...ok(view(session, call)), headers: ["Set-Cookie", set] };
  };

  const signOut = async (call: Call): Promise<PlainAnswer> => {
    await endSession(call);
    return { status: 204, headers: ["Set-Cookie", cookie.clear()] };
  };

  const endSession = async ({ headers }: Call): Promise<void> => {
    const token = cookie.read(headers.cookie);
    if (token !== undefined) await sessions.end(token);
  };

  const read = (call: Call): PlainAnswer => {
    if (call.session === undefined) throw new Error("a call without a session was authorized");
    return ok(view(call.session, call));
  };

  const path = PATH.session;
  return [
    { method: "POST", path, access: "anyone", body: { limit: BODY_BYTES }, handle: signIn },
    { method: "GET", path, access: "cluster", handle: read },
    { method: "DELETE", path, access: "anyone", handle: signOut },
  ];
}
