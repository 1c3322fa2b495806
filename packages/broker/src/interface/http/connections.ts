import type { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { Fault } from "@resource-broker/contract";
import type { ClusterId } from "@resource-broker/domain";
import { type AdmissionRules, admit, judge, type Standing } from "./admission.ts";
import { type Chain, isChained } from "./certificates/trust.ts";

/** Connections that are rechecked before the event loop may run other work. */
const JUDGED_AT_ONCE = 100;

export interface ConnectionsOptions {
  readonly maxPerCluster: number;
  readonly rules: () => AdmissionRules;
}

/** All open connections and their identities. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Map<TLSSocket, Standing>();
  readonly #perCluster = new Map<ClusterId, number>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  add(socket: TLSSocket): void {
    if (socket.destroyed) return;
    const standing = this.#withinLimit(admit(socket, this.#options.rules()));
    this.#open.set(socket, standing);
    socket.once("close", () => this.#remove(socket));
    if (standing.kind === "caller") this.#count(standing.caller.clusterId, 1);
  }

  standingOf(socket: TLSSocket): Standing {
    return this.#open.get(socket) ?? { kind: "anonymous" };
  }

  /** Closes connections whose certificate has expired. */
  closeExpired(nowMs: number): void {
    for (const [socket, standing] of this.#open) {
      if (standing.kind === "caller" && nowMs > standing.validToMs) socket.destroy();
    }
  }

  /** Closes connections that the current certificates do not accept any more. Returns how many. */
  async judgeAnew(hasLostAuthorities: boolean): Promise<number> {
    let closed = 0;
    let judged = 0;
    for (const [socket, standing] of this.#open) {
      if (standing.kind === "caller" && !this.#isStillGood(chainOf(socket, standing), hasLostAuthorities)) {
        socket.destroy();
        closed++;
      }
      if (++judged % JUDGED_AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    return closed;
  }

  /** The certificate of a caller; undefined: there is none, or the connection is gone. */
  certificateOf(socket: TLSSocket): X509Certificate | undefined {
    const standing = this.standingOf(socket);
    return standing.kind === "caller" ? chainOf(socket, standing)?.leaf : undefined;
  }

  #isStillGood(chain: Chain | undefined, hasLostAuthorities: boolean): boolean {
    if (chain === undefined) return false;
    try {
      const rules = this.#options.rules();
      if (judge(chain, rules).kind !== "caller") return false;
      return !hasLostAuthorities || isChained(chain, rules.set);
    } catch {
      return false;
    }
  }

  #withinLimit(standing: Standing): Standing {
    if (standing.kind !== "caller") return standing;
    const { maxPerCluster } = this.#options;
    const { clusterId } = standing.caller;
    if ((this.#perCluster.get(clusterId) ?? 0) < maxPerCluster) return standing;
    const message = `${clusterId} has ${maxPerCluster} connections open already; use them, or close some`;
    return { kind: "refused", fault: new Fault("overloaded", message) };
  }

  #remove(socket: TLSSocket): void {
    const standing = this.#open.get(socket);
    this.#open.delete(socket);
    if (standing?.kind === "caller") this.#count(standing.caller.clusterId, -1);
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
  { intermediates }: Extract<Standing, { kind: "caller" }>,
): Chain | undefined {
  try {
    const leaf = socket.destroyed ? undefined : socket.getPeerX509Certificate();
    return leaf === undefined ? undefined : { leaf, intermediates };
  } catch {
    return undefined;
  }
}
