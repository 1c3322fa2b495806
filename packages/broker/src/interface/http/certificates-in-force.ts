import type { Clock } from "@resource-broker/base";
import type { CertificateSet } from "@resource-broker/runtime";
import type { AdminAuthorities } from "../../enrollment/client-trust.ts";
import type { AuthenticationRules } from "./connections.ts";

interface InForceOptions {
  readonly adminUnit: string;
  readonly adminAuthorities: AdminAuthorities;
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
    const { adminUnit, adminAuthorities, clock, handshakeTimeoutMs } = this.#options;
    // A handshake that started before the change was verified with the old authorities.
    const mustVerifyChain = clock.monotonicMs() - this.#lostAuthoritiesAt <= 2 * handshakeTimeoutMs;
    return {
      adminUnit,
      adminAuthorities: adminAuthorities(this.#set),
      set: this.#set,
      nowMs: clock.wallMs(),
      mustVerifyChain,
    };
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
