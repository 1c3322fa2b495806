import { X509Certificate } from "node:crypto";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { Fault } from "@resource-broker/base";
import { NOBODY } from "@resource-broker/contract/crd";
import type { Actor, ClusterId } from "@resource-broker/domain";
import type { CertificateSet } from "@resource-broker/runtime";
import {
  type Chain,
  commonNames,
  identify,
  isChained,
  isRevoked,
  isTraceable,
  leadsTo,
  readClientCertificate,
} from "./identity.ts";
import type { Session } from "./route.ts";

/** The identity of a connection. It is determined once, when the connection is made. */
export type ConnectionIdentity =
  | {
      readonly kind: "caller";
      readonly caller: Actor;
      readonly validToMs: number;
      /** Certificates between the caller's and the authority's; mostly none. */
      readonly intermediates: readonly X509Certificate[];
      /** Of a browser at the dashboard's port. */
      readonly session?: Session;
    }
  /** `rateKey`: what its calls are counted by; absent: they are not, because every one is refused. */
  | { readonly kind: "anonymous"; readonly rateKey?: string }
  | { readonly kind: "refused"; readonly fault: Fault };

export interface AuthenticationRules {
  readonly adminUnit: string;
  readonly set: CertificateSet;
  /** The only authorities that make admins; undefined: all of them do. */
  readonly adminAuthorities: readonly X509Certificate[] | undefined;
  readonly nowMs: number;
  /** True if TLS may have trusted a removed authority, so that signatures must be verified again. */
  readonly mustVerifyChain: boolean;
}

/** Messages for OpenSSL error codes. */
const TLS_PROBLEMS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "it has expired; renew it",
  CERT_NOT_YET_VALID: "it is not valid yet; compare the clocks",
  INVALID_PURPOSE: "it is not made for clients (extended key usage clientAuth)",
  CERT_SIGNATURE_FAILURE: "its signature is wrong",
};
const FOREIGN_ISSUER = "it is not issued by the broker's certificate authority";
const UNTRACEABLE =
  "revocation cannot be checked, because its issuer is not in ca.crt; add the intermediate authority there (an earlier enrollment authority: in tls.crt of --enrollment-cert-path, after the present one)";
/** Actor of the broker in the audit log; reserved, so no cluster may have this name. */
const BROKER_ACTOR = "broker";
const NO_INTERMEDIATES: readonly X509Certificate[] = [];
const LONGEST_CHAIN = 8;

function authenticate(socket: TLSSocket, rules: AuthenticationRules): ConnectionIdentity {
  try {
    const leaf = socket.getPeerX509Certificate();
    if (leaf === undefined) return { kind: "anonymous" };
    return socket.authorized ? authenticateLeaf(leaf, socket, rules) : refused(tlsProblem(socket));
  } catch {
    // A certificate that Node cannot read must not end the process.
    return refused("it cannot be read");
  }
}

function authenticateLeaf(
  leaf: X509Certificate,
  socket: TLSSocket,
  rules: AuthenticationRules,
): ConnectionIdentity {
  const isDirect = isTraceable({ leaf, intermediates: NO_INTERMEDIATES }, rules.set);
  const intermediates = isDirect ? NO_INTERMEDIATES : intermediatesOf(socket);
  const chain = { leaf, intermediates };
  return rules.mustVerifyChain && !isChained(chain, rules.set)
    ? refused(FOREIGN_ISSUER)
    : checkCertificate(chain, rules);
}

/** Checks the certificate of an open connection against newer rules. Signatures are not verified. */
function checkCertificate(chain: Chain, rules: AuthenticationRules): ConnectionIdentity {
  const { adminUnit, set, nowMs } = rules;
  const certificate = readClientCertificate(chain.leaf);
  const identification = identify(certificate, { adminUnit, reservedNames: reservedNames(set), nowMs });
  if (!identification.ok) return refused(identification.problem);
  if (isRevoked(chain, set)) return refused("it was revoked; ask for a new one");
  // Node may not expose intermediate certificates: then revocation cannot be checked.
  if (set.revocations.length > 0 && !isTraceable(chain, set)) return refused(UNTRACEABLE);
  const { caller } = identification;
  const misuse = authorityMisuse(chain, caller, rules);
  if (misuse !== undefined) return refused(misuse);
  return { kind: "caller", caller, validToMs: certificate.validToMs, intermediates: chain.intermediates };
}

/** Names that no cluster may have. */
export function reservedNames({ own }: CertificateSet): string[] {
  return [BROKER_ACTOR, NOBODY, ...commonNames(own)];
}

/** Whoever signs certificates of clusters makes no admins, and the other way round. */
function authorityMisuse(
  chain: Chain,
  { isAdmin }: Actor,
  { adminAuthorities, adminUnit, set }: AuthenticationRules,
): string | undefined {
  if (adminAuthorities === undefined || leadsTo(chain, adminAuthorities, set) === isAdmin) return undefined;
  return isAdmin
    ? `it says OU=${adminUnit}, but is not of the authority of admins (--admin-ca)`
    : `the authority of admins (--admin-ca) issued it, but it does not say OU=${adminUnit}`;
}

function refused(problem: string): ConnectionIdentity {
  return { kind: "refused", fault: refusedCertificate(problem) };
}

export function refusedCertificate(problem: string): Fault {
  return new Fault("no-certificate", `the client certificate is refused: ${problem}`);
}

function tlsProblem(socket: TLSSocket): string {
  const code = String(socket.authorizationError);
  return Object.hasOwn(TLS_PROBLEMS, code)
    ? (TLS_PROBLEMS[code] ?? FOREIGN_ISSUER)
    : `${FOREIGN_ISSUER} (${code})`;
}

/**
 * What the client sent to link its certificate to the authority. Not known on a resumed session, nor in releases of
 * Node that leave it out on the server's side (24.21 does).
 */
function intermediatesOf(socket: TLSSocket): readonly X509Certificate[] {
  const found: X509Certificate[] = [];
  let issuer: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true).issuerCertificate;
  while (issuer?.raw !== undefined && found.length < LONGEST_CHAIN) {
    found.push(new X509Certificate(issuer.raw));
    const next: DetailedPeerCertificate | undefined = issuer.issuerCertificate;
    issuer = next === issuer ? undefined : next;
  }
  return found;
}

/** Connections that are rechecked before the event loop may run other work. */
const RECHECK_BATCH = 100;

export interface ConnectionsOptions {
  readonly maxPerCluster: number;
  readonly rules: () => AuthenticationRules;
}

/** All open connections and their identities. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Map<TLSSocket, ConnectionIdentity>();
  readonly #perCaller = new Map<string, number>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  add(socket: TLSSocket): void {
    if (socket.destroyed) return;
    const identity = this.#withinLimit(authenticate(socket, this.#options.rules()));
    this.#open.set(socket, identity);
    socket.once("close", () => this.#remove(socket));
    if (identity.kind === "caller") this.#count(identity.caller, 1);
  }

  identityOf(socket: TLSSocket): ConnectionIdentity {
    return this.#open.get(socket) ?? { kind: "anonymous" };
  }

  /** Closes those connections of a cluster that are over. Those of an admin of that name stay. */
  closeCluster(clusterId: ClusterId, isOver: (socket: TLSSocket) => boolean): void {
    for (const [socket, identity] of this.#open) {
      if (identity.kind !== "caller" || identity.caller.isAdmin) continue;
      if (identity.caller.clusterId === clusterId && isOver(socket)) socket.destroy();
    }
  }

  /** Closes connections whose certificate has expired. */
  closeExpired(nowMs: number): void {
    for (const [socket, identity] of this.#open) {
      if (identity.kind === "caller" && nowMs > identity.validToMs) socket.destroy();
    }
  }

  /** Closes connections that the current certificates do not accept any more. Returns how many. */
  async recheckAll(hasLostAuthorities: boolean): Promise<number> {
    let closed = 0;
    let judged = 0;
    for (const [socket, identity] of this.#open) {
      if (identity.kind === "caller" && !this.#isStillValid(chainOf(socket, identity), hasLostAuthorities)) {
        socket.destroy();
        closed++;
      }
      if (++judged % RECHECK_BATCH === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    return closed;
  }

  /** The certificate of a caller; undefined: there is none, or the connection is gone. */
  certificateOf(socket: TLSSocket): X509Certificate | undefined {
    const identity = this.identityOf(socket);
    return identity.kind === "caller" ? chainOf(socket, identity)?.leaf : undefined;
  }

  #isStillValid(chain: Chain | undefined, hasLostAuthorities: boolean): boolean {
    if (chain === undefined) return false;
    try {
      const rules = this.#options.rules();
      if (checkCertificate(chain, rules).kind !== "caller") return false;
      return !hasLostAuthorities || isChained(chain, rules.set);
    } catch {
      return false;
    }
  }

  #withinLimit(identity: ConnectionIdentity): ConnectionIdentity {
    if (identity.kind !== "caller") return identity;
    const { maxPerCluster } = this.#options;
    const { caller } = identity;
    if ((this.#perCaller.get(callerKey(caller)) ?? 0) < maxPerCluster) return identity;
    const message = `${caller.clusterId} has ${maxPerCluster} connections open already; use them, or close some`;
    return { kind: "refused", fault: new Fault("overloaded", message) };
  }

  #remove(socket: TLSSocket): void {
    const identity = this.#open.get(socket);
    this.#open.delete(socket);
    if (identity?.kind === "caller") this.#count(identity.caller, -1);
  }

  #count(caller: Actor, change: 1 | -1): void {
    const key = callerKey(caller);
    const count = (this.#perCaller.get(key) ?? 0) + change;
    if (count > 0) this.#perCaller.set(key, count);
    else this.#perCaller.delete(key);
  }
}

/** What a caller is counted by. A cluster with the name of an admin must not use up what the admin has. */
export function callerKey({ clusterId, isAdmin }: Actor): string {
  return isAdmin ? `admin ${clusterId}` : `cluster ${clusterId}`;
}

/** Undefined: it cannot be read, or is gone. */
function chainOf(
  socket: TLSSocket,
  { intermediates }: Extract<ConnectionIdentity, { kind: "caller" }>,
): Chain | undefined {
  try {
    const leaf = socket.destroyed ? undefined : socket.getPeerX509Certificate();
    return leaf === undefined ? undefined : { leaf, intermediates };
  } catch {
    return undefined;
  }
}
