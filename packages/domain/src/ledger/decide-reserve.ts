import {
  amountOf,
  describeAmount,
  equals,
  isCountable,
  isZero,
  lookup,
  NO_RESOURCES,
  type ResourceVector,
  resourceNames,
  slotOf,
} from "@resource-broker/base";
import { CURRENT_PROTOCOL } from "../advertisement/advertisement.ts";
import { totalPrice } from "../cost/price.ts";
import type { ClusterId, Instant } from "../reservation/ids.ts";
import {
  type Reservation,
  type ReservationCost,
  type ReservationRequest,
  requestFingerprint,
} from "../reservation/reservation.ts";
import { chooseProvider } from "../scheduling/choose-provider.ts";
import type { Policy, ResourceLimits } from "../scheduling/policy.ts";
import { type DecisionContext, type Outcome, type Reserve, rejected } from "./command.ts";
import { keyName, type LedgerView } from "./ledger.ts";

/** Tolerance between the stated start and the broker's clock. */
const START_TOLERANCE_MS = 60_000;

export function decideReserve(ledger: LedgerView, command: Reserve, context: DecisionContext): Outcome {
  return (
    replay(ledger, command) ??
    unacceptable(command.request, context) ??
    overQuota(ledger, command, context.policy) ??
    decideNew(ledger, command, context)
  );
}

/** When a reservation made now ends, or undefined for "when released". */
function expiryOf(request: ReservationRequest, { now, policy }: DecisionContext): Instant | undefined {
  const { defaultTtlMs, maxTtlMs } = policy;
  const durationMs = request.durationMs ?? defaultTtlMs ?? maxTtlMs;
  return durationMs === undefined ? undefined : now + Math.min(durationMs, maxTtlMs ?? durationMs);
}

/** A key that already has a reservation returns that reservation. */
function replay(ledger: LedgerView, command: Reserve): Outcome | undefined {
  const { requester, key, request, reservationId } = command;
  const name = key === undefined ? undefined : keyName(requester, key);
  if (name !== undefined && ledger.closedKeys.has(name)) {
    return rejected(
      "key-released",
      `key ${key} was released; use a new Idempotency-Key for a new reservation`,
    );
  }
  const id = (name === undefined ? undefined : ledger.keys.get(name)) ?? reservationId;
  const existing = ledger.reservations.get(id);
  if (existing === undefined) return undefined;
  if (key === undefined || existing.requester !== requester) {
    return rejected("ledger-conflict", `reservation ID ${id} is already used; retry with another key`);
  }
  if (!isSameRequest(existing, request)) {
    return rejected(
      "key-mismatch",
      `key ${key} already made ${id} with another request; use a new key for it`,
    );
  }
  return { events: [], reply: { kind: "current", reservation: existing, isReplay: true } };
}

/** An adopted reservation has no stored request: its amounts are compared. */
export function isSameRequest(existing: Reservation, request: ReservationRequest): boolean {
  if (existing.decisionId === undefined) return equals(existing.granted, request.resources);
  return requestFingerprint(existing.request) === requestFingerprint(request);
}

function unacceptable(request: ReservationRequest, { now, policy }: DecisionContext): Outcome | undefined {
  if (isZero(request.resources) || !isCountable(request.resources)) {
    return rejected("invalid", "a request needs positive whole amounts, for example cpu 500m and memory 1Gi");
  }
  if (request.start !== undefined && Math.abs(request.start - now) > START_TOLERANCE_MS) {
    return rejected("not-yet", "only reservations that start now are served; leave `start` out");
  }
  return request.durationMs === undefined ? undefined : unacceptableDuration(request.durationMs, policy);
}

interface QuotaRequest {
  readonly requester: ClusterId;
  readonly request: Pick<ReservationRequest, "resources">;
}

/** The rejection when the request exceeds the requester's quota. */
export function overQuota(ledger: LedgerView, command: QuotaRequest, policy: Policy): Outcome | undefined {
  const { requester } = command;
  const own = lookup(policy.quotas, requester) ?? {};
  const { asRequester, grantedAsRequester } = ledger.accounts.get(requester) ?? NOTHING_REQUESTED;
  const most = own.reservations ?? policy.defaultQuota.reservations;
  if (most !== undefined && asRequester.size >= most) {
    return rejected(
      "quota-exceeded",
      `${requester} may hold ${most} reservations at once and holds ${asRequester.size}; ` +
        `release some, or have an admin raise quotas.${requester}.reservations in the policy`,
    );
  }
  return overAmount(
    command,
    grantedAsRequester,
    (name) => limitOf(own, name) ?? limitOf(policy.defaultQuota, name),
  );
}

const NOTHING_REQUESTED = { asRequester: new Map<never, never>(), grantedAsRequester: NO_RESOURCES };

function overAmount(
  { requester, request }: QuotaRequest,
  grantedAsRequester: ResourceVector,
  limitFor: (name: string) => number | undefined,
): Outcome | undefined {
  for (const name of resourceNames(request.resources)) {
    const limit = limitFor(name);
    const [holds, asks] = [amountOf(grantedAsRequester, name), amountOf(request.resources, name)];
    if (limit === undefined || holds + asks <= limit) continue;
    const [most, held, asked] = [limit, holds, asks].map((amount) => describeAmount(name, amount));
    return rejected(
      "quota-exceeded",
      `${requester} may hold ${most}; it holds ${held} and asks for ${asked}`,
    );
  }
  return undefined;
}

function limitOf(quota: ResourceLimits, name: string): number | undefined {
  const slot = slotOf(name);
  return slot === undefined ? lookup(quota.extended, name) : quota[slot];
}

function decideNew(ledger: LedgerView, command: Reserve, context: DecisionContext): Outcome {
  const { requester, request, decisionId } = command;
  const decision = chooseProvider(ledger.candidateTable, { requester, request, ...context }, decisionId);
  if (decision.winner === undefined) {
    return { events: [{ kind: "refused", at: context.now, decision }], reply: { kind: "refused", decision } };
  }
  const activateBy = activationDeadline(ledger, requester, context);
  const reservation = {
    ...reservationFor(
      command,
      { provider: decision.winner, price: decision.candidates[0]?.inputs.price },
      context,
    ),
    ...(activateBy === undefined ? {} : { activateBy }),
  };
  return {
    events: [{ kind: "granted", at: context.now, reservation, decision }],
    reply: { kind: "granted", reservation, decision },
  };
}

interface SelectedProvider {
  readonly provider: ClusterId;
  readonly price: number | undefined;
}

function reservationFor(command: Reserve, selected: SelectedProvider, context: DecisionContext): Reservation {
  const { now, policy } = context;
  const expiresAt = expiryOf(command.request, context);
  const cost = costOf(selected.price, policy, expiresAt === undefined ? undefined : expiresAt - now);
  return {
    id: command.reservationId,
    requester: command.requester,
    provider: selected.provider,
    granted: command.request.resources,
    request: command.request,
    ...(command.key === undefined ? {} : { key: command.key }),
    decisionId: command.decisionId,
    phase: "Reserved",
    ...(cost === undefined ? {} : { cost }),
    createdAt: now,
    reservedAt: now,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    acknowledged: false,
    generation: 1,
  };
}

/** Only for agents of the current protocol: older agents never activate. */
function activationDeadline(
  ledger: LedgerView,
  requester: ClusterId,
  { now, policy }: DecisionContext,
): Instant | undefined {
  const protocol = ledger.accounts.get(requester)?.advertisement?.protocol ?? 0;
  const canActivate = policy.activationTimeoutMs !== undefined && protocol >= CURRENT_PROTOCOL;
  return canActivate ? now + policy.activationTimeoutMs : undefined;
}

function costOf(
  perHour: number | undefined,
  policy: Policy,
  durationMs: number | undefined,
): ReservationCost | undefined {
  if (perHour === undefined) return undefined;
  const total = durationMs === undefined ? {} : { total: totalPrice(perHour, durationMs) };
  return { currency: policy.prices.currency, perHour, ...total };
}

/** The rejection for an invalid duration, for requests and renewals. */
export function unacceptableDuration(durationMs: number, { maxTtlMs }: Policy): Outcome | undefined {
  if (!Number.isSafeInteger(durationMs) || durationMs <= 0) {
    return rejected("invalid", "a duration must be above zero, for example 1h30m");
  }
  if (maxTtlMs !== undefined && durationMs > maxTtlMs) {
    const [asked, allowed] = [durationMs / 1000, maxTtlMs / 1000];
    return rejected("ttl-too-long", `${asked}s is longer than the policy allows (${allowed}s at most)`);
  }
  return undefined;
}
