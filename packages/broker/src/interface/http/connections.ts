import { X509Certificate } from "node:crypto";
import type { DetailedPeerCertificate, TLSSocket } from "node:tls";
import { type Clock, Fault } from "@resource-broker/base";
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
  "revocation cannot be checked, because its issuer is not in ca.crt; add the intermediate authority there";
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
function checkCertificate(chain: Chain, { adminUnit, set, nowMs }: AuthenticationRules): ConnectionIdentity {
  const certificate = readClientCertificate(chain.leaf);
  const reservedNames = [BROKER_ACTOR, NOBODY, ...commonNames(set.own)];
  const identification = identify(certificate, { adminUnit, reservedNames, nowMs });
  if (!identification.ok) return refused(identification.problem);
  if (isRevoked(chain, set)) return refused("it was revoked; ask for a new one");
  // Node may not expose intermediate certificates: then revocation cannot be checked.
  if (set.revocations.length > 0 && !isTraceable(chain, set)) return refused(UNTRACEABLE);
  const { caller } = identification;
  return { kind: "caller", caller, validToMs: certificate.validToMs, intermediates: chain.intermediates };
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

interface InForceOptions {
  readonly adminUnit: string;
  /** The longest time between the first byte of a connection and its admission. */
  readonly handshakeTimeoutMs: number;
  readonly clock: Pick<Clock, "wallMs" | "monotonicMs">;
}

/** The certificates that count now. */
export class CertificatesInForce {
  readonly #options: InForceOptions;
  #set: CertificateSet;
  #lostAuthoritiesAt = Number.NEGATIVE_INFINITY;

  constructor(set: CertificateSet, options: InForceOptions) {
    this.#set = set;
    this.#options = options;
  }

  rules(): AuthenticationRules {
    const { adminUnit, clock, handshakeTimeoutMs } = this.#options;
    // A handshake that started before the change was verified with the old authorities.
    const mustVerifyChain = clock.monotonicMs() - this.#lostAuthoritiesAt <= 2 * handshakeTimeoutMs;
    return { adminUnit, set: this.#set, nowMs: clock.wallMs(), mustVerifyChain };
  }

  /** Returns true if an authority was removed. Otherwise no certificate chain can become invalid. */
  replace(next: CertificateSet): boolean {
    const trusted = new Set(next.authorities.map(({ fingerprint256 }) => fingerprint256));
    const hasLost = this.#set.authorities.some(({ fingerprint256 }) => !trusted.has(fingerprint256));
    if (hasLost) this.#lostAuthoritiesAt = this.#options.clock.monotonicMs();
    this.#set = next;
    return hasLost;
  }
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
  readonly #perCluster = new Map<ClusterId, number>();

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
    if (identity.kind === "caller") this.#count(identity.caller.clusterId, 1);
  }

  identityOf(socket: TLSSocket): ConnectionIdentity {
    return this.#open.get(socket) ?? { kind: "anonymous" };
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
    const { clusterId } = identity.caller;
    if ((this.#perCluster.get(clusterId) ?? 0) < maxPerCluster) return identity;
    const message = `${clusterId} has ${maxPerCluster} connections open already; use them, or close some`;
    return { kind: "refused", fault: new Fault("overloaded", message) };
  }

  #remove(socket: TLSSocket): void {
    const identity = this.#open.get(socket);
    this.#open.delete(socket);
    if (identity?.kind === "caller") this.#count(identity.caller.clusterId, -1);
  }

  #count(clusterId: ClusterId, change: 1 | -1): void {
    const count = (this.#perCluster.get(clusterId) ?? 0) + change;
    if (count > 0) this.#perCluster.set(clusterId, count);
    else this.#perCluster.delete(clusterId);
  }
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
