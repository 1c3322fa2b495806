import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import type { AccountTokens } from "./account-tokens.ts";
import type { User } from "./reviews.ts";

/** Everyone who gets in may do everything. */
const GROUPS = ["system:masters", "system:authenticated"];
const TOKEN_USER = "kube-sim:token";

export interface Known {
  /** The cluster's own. */
  readonly token: string;
  readonly tokens: AccountTokens;
}

/**
 * Who asks: the name in a certificate of the cluster's own authority, the holder of the cluster's token, or a service
 * account.
 */
export function userOf(request: IncomingMessage, { token, tokens }: Known): User | undefined {
  const name = certificateName(request) ?? (hasToken(request, token) ? TOKEN_USER : undefined);
  if (name !== undefined) return { name, groups: GROUPS };
  const [, given] = /^Bearer (\S+)$/u.exec(request.headers.authorization ?? "") ?? [];
  return given === undefined ? undefined : tokens.userOf(given);
}

/** Of connections that are open. A certificate stays the same as long as its connection, and reading it takes its time. */
const certificateNames = new WeakMap<TLSSocket, string>();

function certificateName({ socket }: IncomingMessage): string | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const known = certificateNames.get(socket);
  if (known !== undefined) return known;
  const { subject } = socket.getPeerCertificate();
  const names: string | string[] | undefined = subject?.CN;
  const name = Array.isArray(names) ? names[0] : names;
  if (name !== undefined) certificateNames.set(socket, name);
  return name;
}

function hasToken({ headers }: IncomingMessage, token: string): boolean {
  const given = Buffer.from(headers.authorization ?? "");
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
