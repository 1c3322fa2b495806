import type { IncomingHttpHeaders } from "node:http";
import { FAULTS, Fault } from "@resource-broker/base";
import type { Actor } from "@resource-broker/domain";
import { type ConnectionIdentity, refusedCertificate } from "./authenticate.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { Route } from "./route.ts";
import type { Match } from "./router.ts";

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
}

const ANONYMOUS: Actor = { clusterId: "", isAdmin: false };

/** Authorizes a request before its body is read. Throws the Fault of a refused request. */
export function authorize(context: RequestContext, deps: AuthorizeDeps): AuthorizedRequest {
  const { identity, match } = context;
  if (identity.kind === "refused") throw identity.fault;
  if (match.kind === "found" && match.route.access === "anyone") {
    return { route: match.route, name: match.name, caller: ANONYMOUS };
  }
  if (identity.kind === "anonymous") {
    throw new Fault("no-certificate", `no client certificate was shown. ${FAULTS["no-certificate"].advice}`);
  }
  if (deps.wallMs() > identity.validToMs) throw refusedCertificate("it has expired; renew it");
  const { caller } = identity;
  limitRate(context, caller, deps);
  requireAvailable(deps);
  if (match.kind === "unknown")
    throw new Fault("not-found", "there is no such API call; /openapi.json lists all of them");
  if (match.kind === "wrong-method") {
    throw new Fault(
      "method-not-allowed",
      `this address takes ${match.allow}; /openapi.json lists every call`,
    );
  }
  if (match.route.access === "admin" && !caller.isAdmin) {
    throw new Fault("forbidden", "only an admin may do this; use a certificate with the admin unit");
  }
  shed(match.route, context.sheddableInFlight, deps);
  return { route: match.route, name: match.name, caller };
}

function requireAvailable({ unavailableBecause }: AuthorizeDeps): void {
  const fault = unavailableBecause();
  if (fault !== undefined) throw fault;
}

/** Older agents treat every status below 500 as final, so they get a 503 instead of a 429. */
function limitRate(
  { headers, match }: RequestContext,
  { clusterId }: Actor,
  { rate, now }: AuthorizeDeps,
): void {
  const retryAfterMs = rate.take(clusterId, now());
  if (retryAfterMs === 0) return;
  const isReservation = match.kind === "found" && match.route.isSheddable === true;
  const knowsRates = headers["agent-protocol"] !== undefined && !isReservation;
  const hasKey = headers["idempotency-key"] !== undefined;
  const code = knowsRates || hasKey ? "rate-limited" : "overloaded";
  throw new Fault(code, `${clusterId} calls too often; wait as long as Retry-After says`, {
    details: { retryAfterMs },
  });
}

function shed({ isSheddable }: Route, inFlight: number, { maxSheddableInFlight }: AuthorizeDeps): void {
  if (isSheddable !== true || inFlight < maxSheddableInFlight) return;
  const message = `${inFlight} requests are in flight; nothing was reserved, retry`;
  // Spreads the retries over several seconds.
  throw new Fault("overloaded", message, { details: { retryAfterMs: 1000 * (1 + (inFlight % 3)) } });
}
