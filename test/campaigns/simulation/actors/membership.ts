import type { ClusterId, Command } from "@resource-broker/domain";
import {
  accept,
  bind,
  enroll,
  evict,
  identityKey,
  invite,
  secretHash,
} from "@resource-broker/domain/testing";
import type { SeededRandom } from "@resource-broker/testkit";
import type { Network } from "../environment/network.ts";

const LIFETIME_MS = 60_000;

type MemberCommand = Exclude<Command, { readonly kind: "reserve" }>;

interface MembershipDeps {
  readonly names: readonly ClusterId[];
  readonly network: Network;
  readonly random: SeededRandom;
}

/** Admins who invite, accept and evict, and agents who join: with the right token and key, and with those of others. */
export class Membership {
  readonly #deps: MembershipDeps;
  /** The latest token that was made for a cluster, by the cluster. */
  readonly #tokens = new Map<ClusterId, string>();
  #made = 0;

  constructor(deps: MembershipDeps) {
    this.#deps = deps;
  }

  act(): void {
    const { network, random, names } = this.#deps;
    const clusterId = random.pick(names) ?? "";
    const command = this.#next(clusterId);
    network.call("by" in command ? "ops" : clusterId, { kind: "command", command }, () => undefined);
  }

  #next(clusterId: ClusterId): MemberCommand {
    const { random } = this.#deps;
    const letter = random.chance(0.8) ? "A" : "B";
    const roll = random.below(100);
    if (roll < 5) return evict(clusterId);
    if (roll < 13) return accept(letter, clusterId);
    if (roll < 20) return bind(letter, clusterId);
    if (roll < 42) return this.#invite(clusterId);
    const invited = random.chance(0.9) ? clusterId : random.pick(this.#deps.names);
    const tokenId = this.#tokens.get(invited ?? "") ?? "unknown";
    const hash = secretHash(random.chance(0.9) ? "a" : "b");
    return enroll({ clusterId, tokenId, secretHash: hash, key: identityKey(letter) });
  }

  #invite(clusterId: ClusterId): MemberCommand {
    const { random } = this.#deps;
    const tokenId = `token${++this.#made}`;
    this.#tokens.set(clusterId, tokenId);
    return invite({
      clusterId,
      tokenId,
      lifetimeMs: LIFETIME_MS,
      needsConfirmation: random.chance(0.3),
      isReplacing: random.chance(0.7),
    });
  }
}
