import type { IncomingHttpHeaders } from "node:http";
import { Fault, FAULTS } from "@resource-broker/contract";
import type { Actor } from "@resource-broker/domain";
import { refusedCertificate, type Standing } from "./admission.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { Route } from "./route.ts";
import type { Match } from "./router.ts";

export interface DoorDeps {
  readonly rate: RateLimit;
  /** The engine's time, which rates are measured by. */
  readonly now: () => number;
  /** The wall clock, which certificates are dated by. */
  readonly wallMs: () => number;
  readonly maxSheddableInFlight: number;
  /** Why calls cannot be answered now; undefined: they can. */
  readonly closedBecause: () => Fault | undefined;
}

/** A request that is authenticated and authorized. */
export interface Admitted {
  readonly route: Route;
  readonly name: string;
  readonly caller: Actor;
}

export interface Knock {
  readonly standing: Standing;
  readonly match: Match;
  readonly headers: IncomingHttpHeaders;
  readonly sheddableInFlight: number;
}

const NOBODY: Actor = { clusterId: "", isAdmin: false };

/** Authorizes a request before its body is read. Throws the Fault of a refused request. */
export function checkAtDoor(knock: Knock, deps: DoorDeps): Admitted {
  const { standing, match } = knock;
  if (standing.kind === "refused") throw standing.fault;
  if (match.kind === "found" && match.route.access === "anyone") {
    return { route: match.route, name: match.name, caller: NOBODY };
  }
  if (standing.kind === "anonymous") {
    throw new Fault("no-certificate", `no client certificate was shown. ${FAULTS["no-certificate"].advice}`);
  }
  if (deps.wallMs() > standing.validToMs) throw refusedCertificate("it has expired; renew it");
  const { caller } = standing;
  limitRate(knock, caller, deps);
  insistOnOpen(deps);
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
  shed(match.route, knock.sheddableInFlight, deps);
  return { route: match.route, name: match.name, caller };
}

function insistOnOpen({ closedBecause }: DoorDeps): void {
  const fault = closedBecause();
  if (fault !== undefined) throw fault;
}

/** Older agents treat every status below 500 as final, so they get a 503 instead of a 429. */
function limitRate({ headers, match }: Knock, { clusterId }: Actor, { rate, now }: DoorDeps): void {
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

function shed({ isSheddable }: Route, inFlight: number, { maxSheddableInFlight }: DoorDeps): void {
  if (isSheddable !== true || inFlight < maxSheddableInFlight) return;
  const message = `${inFlight} requests are in flight; nothing was reserved, retry`;
  // Spreads the retries over several seconds.
  throw new Fault("overloaded", message, { details: { retryAfterMs: 1000 * (1 + (inFlight % 3)) } });
}
