import type { Instant } from "@resource-broker/domain";
import { RateLimit } from "./authorize.ts";
import type { HttpLimits } from "./ports.ts";

export interface EnrollmentCaller {
  readonly address: string;
  /** Of the token whose secret the caller knows; undefined: it knows none. */
  readonly tokenId: string | undefined;
}

/** Takes one call to enroll; returns how long to wait when there were too many, and 0 otherwise. */
export type EnrollmentRate = (caller: EnrollmentCaller) => number;

/**
 * Whoever knows a token's secret is counted by the token, never with strangers: they could keep a new agent out, from one
 * address that it shares with them or from many. Strangers are counted by address first, because one address must not use
 * up what all have together.
 */
export function enrollmentRate(limits: HttpLimits, now: () => Instant): EnrollmentRate {
  const each = { perSecond: limits.enrollmentsPerSecond, burst: limits.enrollmentBurst };
  const perToken = new RateLimit(each);
  const perAddress = new RateLimit(each);
  const all = new RateLimit({ perSecond: limits.allEnrollmentsPerSecond, burst: limits.allEnrollmentBurst });
  return ({ address, tokenId }) =>
    tokenId === undefined
      ? perAddress.take(networkOf(address), now()) || all.take("", now())
      : perToken.take(tokenId, now());
}

/** An IPv4 address, or the first 64 bits of an IPv6 address: whoever has one of these has all of them. */
export function networkOf(address: string): string {
  const [plain = ""] = address.toLowerCase().split("%");
  if (!plain.includes(":")) return plain;
  if (plain.startsWith("::ffff:") && plain.includes(".")) return plain.slice("::ffff:".length);
  const [head = [], tail = []] = plain.split("::").map(groupsIn);
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => "0");
  return [...head, ...zeros, ...tail].slice(0, 4).join(":");
}

function groupsIn(part: string): string[] {
  return part === "" ? [] : part.split(":");
}
