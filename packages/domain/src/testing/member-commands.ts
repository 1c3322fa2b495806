import type { Accept, Bind, Enroll, Evict, Invite } from "../ledger/command.ts";
import { ADMIN, HOUR_MS } from "./world.ts";

/** Identity keys as agents send them, one per letter. */
export function identityKey(letter: string): string {
  return letter.repeat(43);
}

/** The hash of a token's secret, one per letter from a to f. */
export function secretHash(letter: string): string {
  return letter.repeat(64);
}

/** An invitation of rome for an hour, unless said otherwise. */
export function invite(more: Partial<Invite> = {}): Invite {
  return {
    kind: "invite",
    by: ADMIN,
    clusterId: "rome",
    tokenId: "token00001",
    secretHash: secretHash("a"),
    lifetimeMs: HOUR_MS,
    needsConfirmation: false,
    isReplacing: false,
    ...more,
  };
}

/** Its use by the agent with key A. */
export function enroll(more: Partial<Enroll> = {}): Enroll {
  return {
    kind: "enroll",
    tokenId: "token00001",
    secretHash: secretHash("a"),
    clusterId: "rome",
    key: identityKey("A"),
    ...more,
  };
}

export function accept(letter: string, clusterId = "rome"): Accept {
  return { kind: "accept", by: ADMIN, clusterId, key: identityKey(letter) };
}

export function evict(clusterId = "rome", why?: string): Evict {
  return { kind: "evict", by: ADMIN, clusterId, ...(why === undefined ? {} : { why }) };
}

export function bind(letter: string, clusterId = "rome"): Bind {
  return { kind: "bind", clusterId, key: identityKey(letter) };
}
