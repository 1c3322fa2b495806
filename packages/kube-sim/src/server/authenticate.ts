import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import type { User } from "./reviews.ts";

/** Everyone who gets in may do everything. */
const GROUPS = ["system:masters", "system:authenticated"];
const TOKEN_USER = "kube-sim:token";

/** Who asks: the name in a certificate of the cluster's own authority, or the holder of the cluster's token. */
export function userOf(request: IncomingMessage, token: string): User | undefined {
  const name = certificateName(request) ?? (hasToken(request, token) ? TOKEN_USER : undefined);
  return name === undefined ? undefined : { name, groups: GROUPS };
}

function certificateName({ socket }: IncomingMessage): string | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const { subject } = socket.getPeerCertificate();
  const name: string | string[] | undefined = subject?.CN;
  return Array.isArray(name) ? name[0] : name;
}

function hasToken({ headers }: IncomingMessage, token: string): boolean {
  const given = Buffer.from(headers.authorization ?? "");
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
