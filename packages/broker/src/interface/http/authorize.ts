import type { IncomingHttpHeaders } from "node:http";
import { Fault } from "@resource-broker/base";
import type { Actor, Instant } from "@resource-broker/domain";
import { callerKey, type ConnectionIdentity, refusedCertificate } from "./connections.ts";
import type { Match, Route } from "./route.ts";

interface RateLimitOptions {
  readonly perSecond: number;
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  at: Instant;
}

/** Full buckets carry no information; they are removed when there are this many buckets. */
const TIDY_AT = 4096;

/** One token bucket per key, which is mostly a cluster: a busy one does not affect others. */
export class RateLimit {
  readonly #options: RateLimitOptions;
  readonly #buckets = new Map<string, Bucket>();
  #tidyAt = TIDY_AT;

  constructor(options: RateLimitOptions) {
    this.#options = options;
  }

  /** Takes one token; returns how long to wait for the next one when there is none, and 0 otherwise. */
  take(key: string, now: Instant): number {
    const { perSecond, burst } = this.#options;
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      this.#tidy(now);
      this.#buckets.set(key, { tokens: burst - 1, at: now });
      return 0;
    }
    const earned = ((now - bucket.at) * perSecond) / 1000;
    bucket.tokens = Math.min(burst, bucket.tokens + earned);
    bucket.at = now;
    if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) * 1000) / perSecond);
    bucket.tokens--;
    return 0;
  }

  get size(): number {
    return this.#buckets.size;
  }

  #tidy(now: Instant): void {
    if (this.#buckets.size < this.#tidyAt) return;
    const fullAfterMs = (this.#options.burst * 1000) / this.#options.perSecond;
    for (const [key, { at }] of this.#buckets) {
      if (now - at > fullAfterMs) this.#buckets.delete(key);
    }
    this.#tidyAt = Math.max(TIDY_AT, 2 * this.#buckets.size);
  }
}

export interface AuthorizeDeps {
  readonly rate: RateLimit;
  /** The engine's time, which rates are measured by. */
  readonly now: () => number;
  /** The wall clock, which certificates are dated by. */
  readonly wallMs: () => number;
  readonly maxSheddableInFlight: number;
  /** Why calls cannot be answered now; undefined: they can. */
  readonly unavailableBecause: () => Fault | undefined;
}

/** A request that is authenticated and authorized. */
export interface AuthorizedRequest {
  readonly route: Route;
  readonly name: string;
  readonly caller: Actor;
}

export interface RequestContext {
  readonly identity: ConnectionIdentity;
  readonly match: Match;
  readonly headers: IncomingHttpHeaders;
  readonly sheddableInFlight: number;
  /** The answer to a caller without an identity. */
  readonly anonymousMessage: string;
}

const ANONYMOUS: Actor = { clusterId: "", isAdmin: false };

/** Authorizes a request before its body is read. Throws the Fault of a refused request. */
export function authorize(context: RequestContext, deps: AuthorizeDeps): AuthorizedRequest {
  const { match } = context;
  // The token counts: a certificate that has expired must not keep its owner from a new one.
  if (match.kind === "found" && match.route.access === "enrollment") {
    requireAvailable(deps);
    return { route: match.route, name: match.name, caller: ANONYMOUS };
  }
  return authorizeCaller(context, deps);
}

function authorizeCaller(context: RequestContext, deps: AuthorizeDeps): AuthorizedRequest {
  const { identity, match } = context;
  if (identity.kind === "refused") throw identity.fault;
  if (identity.kind === "anonymous" && identity.rateKey !== undefined)
    limitRate(context, { name: "this browser", key: identity.rateKey }, deps);
  if (match.kind === "found" && match.route.access === "anyone") {
    return { route: match.route, name: match.name, caller: ANONYMOUS };
  }
  if (identity.kind === "anonymous") {
    throw new Fault("no-certificate", context.anonymousMessage);
  }
  if (deps.wallMs() > identity.validToMs) throw refusedCertificate("it has expired; renew it");
  const { caller, session } = identity;
  limitRate(context, { name: caller.clusterId, key: session?.id ?? callerKey(caller) }, deps);
  requireAvailable(deps);
  const { route, name } = found(match);
  requireRole(route, identity);
  shed(route, context.sheddableInFlight, deps);
  return { route, name, caller };
}

function found(match: Match): Extract<Match, { kind: "found" }> {
  switch (match.kind) {
    case "found":
      return match;
    case "unknown":
      throw new Fault("not-found", "there is no such API call; /openapi.json lists all of them");
    case "wrong-method": {
      const message = `this address takes ${match.allow}; /openapi.json lists every call`;
      throw new Fault("method-not-allowed", message);
    }
  }
}

function requireRole(
  { access, method, isReadOnly }: Route,
  { caller, session }: Extract<ConnectionIdentity, { kind: "caller" }>,
): void {
  if (access === "admin" && !caller.isAdmin)
    throw new Fault("forbidden", "only an admin may do this; use a certificate with the admin unit");
  if (session?.role === "viewer" && method !== "GET" && isReadOnly !== true)
    throw new Fault("forbidden", "a viewer may read everything but change nothing");
}

function requireAvailable({ unavailableBecause }: AuthorizeDeps): void {
  const fault = unavailableBecause();
  if (fault !== undefined) throw fault;
}

/** Older agents treat every status below 500 as final, so they get a 503 instead of a 429. */
function limitRate(
  { headers, match }: RequestContext,
  { name, key }: { readonly name: string; readonly key: string },
  { rate, now }: AuthorizeDeps,
): void {
  const retryAfterMs = rate.take(key, now());
  if (retryAfterMs === 0) return;
  const isReservation = match.kind === "found" && match.route.isSheddable === true;
  const knowsRates = headers["agent-protocol"] !== undefined && !isReservation;
  const hasKey = headers["idempotency-key"] !== undefined;
  const code = knowsRates || hasKey ? "rate-limited" : "overloaded";
  throw new Fault(code, `${name} calls too often; wait as long as Retry-After says`, {
    details: { retryAfterMs },
  });
}

function shed({ isSheddable }: Route, inFlight: number, { maxSheddableInFlight }: AuthorizeDeps): void {
  if (isSheddable !== true || inFlight < maxSheddableInFlight) return;
  const message = `${inFlight} requests are in flight; nothing was reserved, retry`;
  // Spreads the retries over several seconds.
  throw new Fault("overloaded", message, { details: { retryAfterMs: 1000 * (1 + (inFlight % 3)) } });
}
