import { fits, larger, NO_RESOURCES, type ResourceVector } from "@resource-broker/base";
import type { Admit, DecisionContext, Outcome } from "../ledger/command.ts";
import { reservationFor } from "../ledger/decide-reserve.ts";
import type { LedgerEvent } from "../ledger/event.ts";
import type { LedgerView } from "../ledger/ledger.ts";
import type { ReservationId } from "../reservation/ids.ts";
import type { Reservation } from "../reservation/reservation.ts";
import { chooseProvider } from "../scheduling/choose-provider.ts";
import type { QueueRecord } from "../scheduling/decision.ts";
import { letsSomebodyIn } from "./kept.ts";
import { lapsedNomination, nominationDue, roomsOfNominated, turnsWith } from "./nominations.ts";
import { inOrder, Predecessors, type Queued } from "./order.ts";
import { schedulingFor } from "./over-budget.ts";
import { passedOver } from "./passed-over.ts";
import { type Plans, plansFor } from "./plans.ts";
import { type Notice, seekVictims } from "./preemption.ts";
import { QueueWalk } from "./queue-record.ts";
import { needlessNotices } from "./victims.ts";
import type { PreemptionLook } from "./waiting.ts";

/** A requester must activate what it is granted from the queue: it may have gone meanwhile. */
const ACTIVATE_WITHIN_MS = 15 * 60_000;

/**
 * Grants the first waiting request that fits, in order. One at a time: each grant changes what the next finds. If none
 * fits, capacity is planned for those that wait.
 */
export function decideAdmit(ledger: LedgerView, { decisionId }: Admit, context: DecisionContext): Outcome {
  if (ledger.waiting.pendingCount === 0) return { events: [], reply: { kind: "admitted", hasMore: false } };
  const largest = largestAvailable(ledger);
  const predecessors = new Predecessors(ledger);
  const walk = new QueueWalk();
  const rest = inOrder(ledger, context.policy);
  for (let next = rest.next(); next.done !== true; next = rest.next()) {
    const { entry } = next.value;
    const isBehind = predecessors.of(entry);
    const mayFit = fits(entry.request.resources, largest);
    const why = mayFit ? passedOver(ledger, next.value, { ...context, isBehind }) : "Capacity";
    if (why === undefined) {
      const about = { rest, of: ledger.waiting.pendingCount, now: context.now };
      const queue = walk.recordOf(next.value, about);
      return grant(ledger, next.value, { context, decisionId, isBehind, queue });
    }
    walk.passOver(next.value, why);
    if (ledger.plans.has(entry.id)) predecessors.pass(entry);
  }
  return planAhead(ledger, { context, decisionId });
}

interface Looking {
  readonly context: DecisionContext;
  readonly decisionId: Admit["decisionId"];
}

interface Granting extends Looking {
  readonly isBehind: (id: ReservationId) => boolean;
  readonly queue: QueueRecord;
}

function grant(
  ledger: LedgerView,
  queued: Queued,
  { context, decisionId, isBehind, queue }: Granting,
): Outcome {
  const { entry, tenant } = queued;
  const { requester } = entry;
  const scheduling = schedulingFor(ledger, { ...entry, tenant }, { ...context, isBehind });
  const decision = { ...chooseProvider(ledger.candidateTable, scheduling, decisionId), queue };
  if (decision.winner === undefined) throw new Error(`${entry.id} fits, and no provider was chosen`);
  const selected = { provider: decision.winner, price: decision.candidates[0]?.inputs.price };
  const reservation: Reservation = {
    ...reservationFor({ ...entry, reservationId: entry.id, decisionId }, selected, context),
    ...(tenant === requester ? {} : { tenant }),
    createdAt: entry.createdAt,
    ...(entry.since === entry.createdAt ? {} : { since: entry.since }),
    activateBy: context.now + (context.policy.activationTimeoutMs ?? ACTIVATE_WITHIN_MS),
    generation: entry.generation + 1,
  };
  return {
    events: [{ kind: "granted", at: context.now, reservation, decision }],
    reply: { kind: "admitted", granted: reservation, hasMore: true },
  };
}

/** Nothing fits. After a start nothing is planned until the providers had the time to speak. */
function planAhead(ledger: LedgerView, looking: Looking): Outcome {
  const { context } = looking;
  const { now, policy } = context;
  const isStarting = now - ledger.startedAt < policy.stalenessMs;
  if (isStarting)
    return settled(ledger, { kind: "settled", at: now, plans: [], rooms: roomsOfNominated(ledger) });
  const needless = needlessNotices(ledger, context);
  if (needless.length > 0) return more(...needless);
  const lapsed = lapsedNomination(ledger, context);
  if (lapsed !== undefined) return more({ kind: "nomination-lapsed", at: now, id: lapsed.id });
  const planned = plansFor(ledger, context);
  if (policy.preemption.victims === "none") return nominateOrSettle(ledger, planned, context);
  const { notice, looked } = seekVictims(ledger, planned.plans, context);
  if (notice !== undefined) return more(...noticeEvents(ledger, notice, looking));
  return nominateOrSettle(ledger, { ...planned, looked }, context);
}

interface Findings extends Plans {
  readonly looked?: readonly PreemptionLook[];
}

function nominateOrSettle(
  ledger: LedgerView,
  { leading, ...found }: Findings,
  context: DecisionContext,
): Outcome {
  const { now: at } = context;
  const nomination = nominationDue(ledger, leading, context);
  if (nomination !== undefined) return more({ kind: "nominated", at, ...nomination });
  const [turns, rooms] = [turnsWith(ledger, leading, at), roomsOfNominated(ledger)];
  return settled(ledger, { kind: "settled", at, ...found, turns, rooms });
}

/** The request is nominated, and each victim gets notice. */
function noticeEvents(
  ledger: LedgerView,
  { queued: { entry, tenant }, chosen, alternatives }: Notice,
  { context, decisionId }: Looking,
): LedgerEvent[] {
  const { id, request } = entry;
  const { now: at, policy } = context;
  const until = at + policy.preemption.graceMs;
  const scheduling = schedulingFor(ledger, { ...entry, tenant }, context);
  const decision = {
    ...chooseProvider(ledger.candidateTable, scheduling, decisionId),
    notice: { until, chosen, alternatives },
  };
  const victims = chosen.victims.map((victim) => victim.id);
  const { priority } = request;
  return [
    { kind: "nominated", at, id, provider: chosen.provider, victims, decision },
    ...victims.map((victim) => ({ kind: "preempting", at, id: victim, by: id, priority, until }) as const),
  ];
}

function settled(ledger: LedgerView, event: Extract<LedgerEvent, { readonly kind: "settled" }>): Outcome {
  const hasMore = letsSomebodyIn(ledger, event);
  return { events: [event], reply: { kind: "admitted", hasMore } };
}

function more(...events: readonly LedgerEvent[]): Outcome {
  return { events, reply: { kind: "admitted", hasMore: true } };
}

/** The most that any one candidate has, of each resource by itself: what exceeds it fits nowhere. */
function largestAvailable({ candidateTable }: LedgerView): ResourceVector {
  let largest = NO_RESOURCES;
  for (const { available } of candidateTable.candidates)
    if (!fits(available, largest)) largest = larger(largest, available);
  return largest;
}
