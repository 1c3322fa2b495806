import type { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { Fault } from "@resource-broker/base";
import type { ClusterId } from "@resource-broker/domain";
import {
  type AuthenticationRules,
  authenticate,
  type ConnectionIdentity,
  checkCertificate,
} from "./authenticate.ts";
import { type Chain, isChained } from "./certificates/trust.ts";

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
