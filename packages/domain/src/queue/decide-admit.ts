import { fits, larger, NO_RESOURCES, type ResourceVector } from "@resource-broker/base";
import type { Admit, DecisionContext, Outcome } from "../ledger/command.ts";
import { reservationFor } from "../ledger/decide-reserve.ts";
import type { LedgerEvent } from "../ledger/event.ts";
import type { LedgerView } from "../ledger/ledger.ts";
import type { ReservationId } from "../reservation/ids.ts";
import type { Reservation } from "../reservation/reservation.ts";
import { chooseProvider } from "../scheduling/choose-provider.ts";
import { schedulingFor } from "./over-budget.ts";
import { lapsedNomination, nominationDue } from "./nominations.ts";
import { inOrder, type Queued } from "./order.ts";
import { passedOver } from "./passed-over.ts";
import { plansFor } from "./plans.ts";

/** A requester must activate what it is granted from the queue: it may have gone meanwhile. */
const ACTIVATE_WITHIN_MS = 15 * 60_000;

/**
 * Grants the first waiting request that fits, in order. One at a time: each grant changes what the next finds. If none
 * fits, capacity is planned for those that wait.
 */
export function decideAdmit(ledger: LedgerView, { decisionId }: Admit, context: DecisionContext): Outcome {
  if (ledger.waiting.pendingCount === 0) return { events: [], reply: { kind: "admitted", hasMore: false } };
  const largest = largestAvailable(ledger);
  // Only of those for whom a provider keeps something: nobody asks about others.
  const before = new Set<ReservationId>();
  const isBehind = (id: ReservationId): boolean => before.has(id);
  for (const queued of inOrder(ledger, context.policy)) {
    const { entry } = queued;
    const mayFit = fits(entry.request.resources, largest);
    if (mayFit && passedOver(ledger, queued, { ...context, isBehind }) === undefined)
      return grant(ledger, queued, { context, decisionId, isBehind });
    if (entry.nominated !== undefined || ledger.plans.has(entry.id)) before.add(entry.id);
  }
  return planAhead(ledger, context);
}

interface Granting {
  readonly context: DecisionContext;
  readonly decisionId: Admit["decisionId"];
  readonly isBehind: (id: ReservationId) => boolean;
}

function grant(ledger: LedgerView, queued: Queued, { context, decisionId, isBehind }: Granting): Outcome {
  const { entry, tenant } = queued;
  const { requester } = entry;
  const scheduling = schedulingFor(ledger, { ...entry, tenant }, { ...context, isBehind });
  const decision = chooseProvider(ledger.candidateTable, scheduling, decisionId);
  if (decision.winner === undefined) throw new Error(`${entry.id} fits, and no provider was chosen`);
  const selected = { provider: decision.winner, price: decision.candidates[0]?.inputs.price };
  const reservation: Reservation = {
    ...reservationFor({ ...entry, reservationId: entry.id, decisionId }, selected, context),
    ...(tenant === requester ? {} : { tenant }),
    createdAt: entry.createdAt,
    activateBy: context.now + (context.policy.activationTimeoutMs ?? ACTIVATE_WITHIN_MS),
    generation: entry.generation + 1,
  };
  return {
    events: [{ kind: "granted", at: context.now, reservation, decision }],
    reply: { kind: "admitted", granted: reservation, hasMore: true },
  };
}

/** Nothing fits. After a start nothing is planned until the providers had the time to speak. */
function planAhead(ledger: LedgerView, context: DecisionContext): Outcome {
  const { now, policy } = context;
  const isStarting = now - ledger.startedAt < policy.stalenessMs;
  if (isStarting) return settled({ kind: "settled", at: now, plans: [] });
  const lapsed = lapsedNomination(ledger, context);
  if (lapsed !== undefined) return more({ kind: "nomination-lapsed", at: now, id: lapsed.id });
  const { plans, head } = plansFor(ledger, context);
  if (head === undefined) return settled({ kind: "settled", at: now, plans });
  const { id } = head.entry;
  const provider = nominationDue(ledger, head, context);
  if (provider !== undefined) return more({ kind: "nominated", at: now, id, provider });
  const since = ledger.head?.id === id ? ledger.head.since : now;
  return settled({ kind: "settled", at: now, plans, head: { id, since } });
}

function settled(event: LedgerEvent): Outcome {
  return { events: [event], reply: { kind: "admitted", hasMore: false } };
}

function more(event: LedgerEvent): Outcome {
  return { events: [event], reply: { kind: "admitted", hasMore: true } };
}

/** The most that any one candidate has, of each resource by itself: what exceeds it fits nowhere. */
function largestAvailable({ candidateTable }: LedgerView): ResourceVector {
  let largest = NO_RESOURCES;
  for (const { available } of candidateTable.candidates)
    if (!fits(available, largest)) largest = larger(largest, available);
  return largest;
}
