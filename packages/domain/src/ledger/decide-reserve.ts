import { equals, formatDuration, isCountable, isZero } from "@resource-broker/base";
import { CALLS_PROTOCOL } from "../advertisement/advertisement.ts";
import { totalPrice } from "../cost/price.ts";
import { overBudget, schedulingFor } from "../queue/over-budget.ts";
import { tenantOf, tenantRules } from "../queue/tenants.ts";
import type { Waiting } from "../queue/waiting.ts";
import type { ClusterId, Instant } from "../reservation/ids.ts";
import {
  type Reservation,
  type ReservationCost,
  type ReservationRequest,
  requestFingerprint,
} from "../reservation/reservation.ts";
import { chooseProvider } from "../scheduling/choose-provider.ts";
import { lifetimeOf, type Policy } from "../scheduling/policy.ts";
import { type DecisionContext, type Outcome, type Reply, type Reserve, rejected } from "./command.ts";
import { refuseEvicted } from "./decide-member.ts";
import type { LedgerEvent } from "./event.ts";
import { isSettledAt, keyName, type LedgerView } from "./ledger.ts";
import { overQuota } from "./quota.ts";

/** Tolerance between the stated start and the broker's clock. */
const START_TOLERANCE_MS = 60_000;
/** So long after it was preempted, a reservation's place in the queue can be taken over. */
const RESUMES_WITHIN_MS = 60 * 60_000;

export function decideReserve(ledger: LedgerView, command: Reserve, context: DecisionContext): Outcome {
  return (
    refuseEvicted(ledger, command.requester) ??
    replay(ledger, command) ??
    unacceptable(command, context) ??
    decideOrQueue(ledger, command, context)
  );
}

/** A newcomer is decided only when no waiting request could be: it never takes what another waits for. */
function decideOrQueue(ledger: LedgerView, command: Reserve, context: DecisionContext): Outcome {
  const { policy } = context;
  const asked = { ...command, tenant: tenantOf(policy, command.requester, command.namespace) };
  if (!isSettledAt(ledger, context.now)) {
    return command.wait === undefined
      ? rejected(
          "overloaded",
          "capacity has become free and waiting requests go first; ask again in a second",
        )
      : queue(ledger, asked, context);
  }
  const decided = overQuota(ledger, asked, policy) ?? decideNew(ledger, asked, context);
  const isGranted = decided.reply.kind === "granted";
  return isGranted || command.wait === undefined ? decided : queue(ledger, asked, context);
}

interface TenantRequest extends Reserve {
  readonly tenant: string;
}

/** Lets the request wait. Its refusal is not recorded: why it waits is computed when somebody asks. */
function queue(ledger: LedgerView, command: TenantRequest, { now, policy }: DecisionContext): Outcome {
  const { requester, request, key = "", namespace, protocol = 0, wait } = command;
  const full = queueFull(ledger, command, policy);
  if (full !== undefined) return full;
  const { since, resumed } = placeOf(ledger, command, now);
  const waiting: Waiting = {
    id: command.reservationId,
    requester,
    ...(namespace === undefined ? {} : { namespace }),
    request,
    key,
    protocol,
    phase: "Pending",
    createdAt: now,
    since,
    until: now + (wait?.forMs ?? policy.queue.maxWaitMs),
    generation: 1,
  };
  const reply = { kind: "waiting", waiting, isReplay: false } as const;
  const queued = { kind: "queued", at: now, waiting } as const;
  return { events: [queued, ...resumed], reply };
}

/** Since when the request waits: it may take over the place of a reservation, once, soon after that was preempted. */
function placeOf(
  ledger: LedgerView,
  { requester, resumes = "", reservationId: by }: Reserve,
  now: Instant,
): { readonly since: Instant; readonly resumed: readonly LedgerEvent[] } {
  const last = { since: now, resumed: [] };
  const preempted = ledger.reservations.get(resumes);
  if (preempted?.requester !== requester || preempted.reason !== "Preempted") return last;
  const { id, endedAt = 0, createdAt, since = createdAt } = preempted;
  if (preempted.resumedBy !== undefined || now - endedAt > RESUMES_WITHIN_MS) return last;
  return { since, resumed: [{ kind: "resumed", at: now, id, by }] };
}

function queueFull(ledger: LedgerView, { tenant }: TenantRequest, policy: Policy): Outcome | undefined {
  const { max, maxPerTenant } = policy.queue;
  if (ledger.waiting.pendingCount >= max)
    return rejected(
      "queue-full",
      `${ledger.waiting.pendingCount} requests wait already; the policy allows ${max} (queue.max)`,
    );
  let own = 0;
  for (const { requester, namespace, entries } of ledger.waiting.lines())
    if (tenantOf(policy, requester, namespace) === tenant) own += entries.length;
  if (own < maxPerTenant) return undefined;
  return rejected(
    "queue-full",
    `${own} requests of ${tenant} wait already; the policy allows ${maxPerTenant} (queue.perTenant)`,
  );
}

/** A key that already has a reservation returns that reservation. */
function replay(ledger: LedgerView, command: Reserve): Outcome | undefined {
  const { requester, key, request, reservationId } = command;
  const name = key === undefined ? "" : keyName(requester, key);
  if (ledger.closedKeys.has(name)) return keyReleased(key);
  const id = ledger.keys.get(name) ?? reservationId;
  const existing = ledger.reservations.get(id) ?? ledger.waiting.byId.get(id);
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
  return { events: [], reply: replayOf(existing) };
}

function replayOf(existing: Reservation | Waiting): Reply {
  return isReservation(existing)
    ? { kind: "current", reservation: existing, isReplay: true }
    : { kind: "waiting", waiting: existing, isReplay: true };
}

function keyReleased(key: string | undefined): Outcome {
  const advice = "use a new Idempotency-Key for a new reservation";
  return rejected("key-released", `key ${key} was released; ${advice}`);
}

function isReservation(existing: Reservation | Waiting): existing is Reservation {
  return "provider" in existing;
}

/** An adopted reservation has no stored request: its amounts are compared. */
export function isSameRequest(existing: Reservation | Waiting, request: ReservationRequest): boolean {
  if (isReservation(existing) && existing.decisionId === undefined)
    return equals(existing.granted, request.resources);
  return requestFingerprint(existing.request) === requestFingerprint(request);
}

function unacceptable(command: Reserve, { now, policy }: DecisionContext): Outcome | undefined {
  const { request } = command;
  if (isZero(request.resources) || !isCountable(request.resources)) {
    return rejected("invalid", "a request needs positive whole amounts, for example cpu 500m and memory 1Gi");
  }
  if (request.start !== undefined && Math.abs(request.start - now) > START_TOLERANCE_MS) {
    return rejected("not-yet", "only reservations that start now are served; leave `start` out");
  }
  const problem = unacceptableWait(command, policy) ?? abovePriority(command, policy);
  if (problem !== undefined) return problem;
  return request.durationMs === undefined ? undefined : unacceptableDuration(request.durationMs, policy);
}

function unacceptableWait({ wait, key }: Reserve, { queue: { maxWaitMs } }: Policy): Outcome | undefined {
  if (wait === undefined) return undefined;
  if (key === undefined)
    return rejected(
      "invalid",
      "a request that waits needs an Idempotency-Key, so that a retry finds it again",
    );
  const { forMs = maxWaitMs } = wait;
  if (!Number.isSafeInteger(forMs) || forMs <= 0)
    return rejected("invalid", "wait.for must be above zero, for example 4h");
  if (forMs <= maxWaitMs) return undefined;
  return rejected(
    "ttl-too-long",
    `${formatDuration(forMs)} is longer than requests may wait (${formatDuration(maxWaitMs)} at most: queue.maxWait in the policy)`,
  );
}

function abovePriority({ requester, namespace, request }: Reserve, policy: Policy): Outcome | undefined {
  const tenant = tenantOf(policy, requester, namespace);
  const { maxPriority } = tenantRules(policy, tenant);
  if (maxPriority === undefined || request.priority <= maxPriority) return undefined;
  return rejected(
    "priority-too-high",
    `priority ${request.priority} is above the maximum of ${tenant}, ${maxPriority}`,
  );
}

function decideNew(ledger: LedgerView, command: TenantRequest, context: DecisionContext): Outcome {
  const { requester, decisionId } = command;
  const scheduling = schedulingFor(ledger, command, context);
  const decision = chooseProvider(ledger.candidateTable, scheduling, decisionId);
  if (decision.winner === undefined) {
    const tooDear = overBudget(decision, scheduling.budget);
    if (tooDear !== undefined) return tooDear;
    return { events: [{ kind: "refused", at: context.now, decision }], reply: { kind: "refused", decision } };
  }
  const activateBy = activationDeadline(ledger, requester, context);
  const reservation = {
    ...reservationFor(
      command,
      { provider: decision.winner, price: decision.candidates[0]?.inputs.price },
      context,
    ),
    ...(command.tenant === requester ? {} : { tenant: command.tenant }),
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

type GrantedRequest = Pick<Reserve, "requester" | "request" | "key" | "reservationId" | "decisionId">;

/** A reservation that is made now. */
export function reservationFor(
  command: GrantedRequest,
  selected: SelectedProvider,
  context: DecisionContext,
): Reservation {
  const { now, policy } = context;
  const lifetimeMs = lifetimeOf(command.request, policy);
  const expiresAt = lifetimeMs === undefined ? undefined : now + lifetimeMs;
  const cost = costOf(selected.price, policy, lifetimeMs);
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
  const canActivate = policy.activationTimeoutMs !== undefined && protocol >= CALLS_PROTOCOL;
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
    const [asked, allowed] = [formatDuration(durationMs), formatDuration(maxTtlMs)];
    return rejected("ttl-too-long", `${asked} is longer than the policy allows (${allowed} at most)`);
  }
  return undefined;
}
