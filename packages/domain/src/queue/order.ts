import type { LedgerView } from "../ledger/ledger.ts";
import type { ReservationId } from "../reservation/ids.ts";
import type { Kept } from "../scheduling/candidate-table.ts";
import type { Policy } from "../scheduling/policy.ts";
import { dominantShare, NOTHING_HELD, tenantOf, tenantRules } from "./tenants.ts";
import { compareArrival, type QueueLine, type Waiting } from "./waiting.ts";

/** A waiting request with what its place depends on. */
export interface Queued {
  readonly entry: Waiting;
  readonly tenant: string;
  readonly share: number;
}

/**
 * Who comes before the request that a walk through the queue has reached: of those for whom a provider keeps something, since
 * nobody asks about others. Whoever is nominated comes before all others of its priority, however much its tenant holds.
 */
export class Predecessors {
  readonly #ids = new Set<ReservationId>();
  readonly #nominated: readonly Kept[];
  #priority = Number.POSITIVE_INFINITY;

  constructor({ candidateTable }: LedgerView) {
    this.#nominated = candidateTable.candidates.flatMap(({ kept }) =>
      kept !== undefined && kept.from === undefined ? [kept] : [],
    );
  }

  /** Of the entry that is reached now. */
  of({ id: own, request: { priority } }: Waiting): (id: ReservationId) => boolean {
    if (priority !== this.#priority)
      for (const kept of this.#nominated) if (kept.priority === priority) this.#ids.add(kept.id);
    this.#priority = priority;
    return (id) => id !== own && this.#ids.has(id);
  }

  pass({ id }: Waiting): void {
    this.#ids.add(id);
  }
}

/** The lines of one tenant, and how far each has been read. */
interface TenantLines {
  readonly tenant: string;
  readonly share: number;
  readonly lines: { readonly entries: readonly Waiting[]; next: number }[];
}

/**
 * The waiting requests, first come first in a tenant; the highest priority first, and within it the tenant with the lowest
 * share, or of equals the one that waits longest. The shares are those of now: whoever grants one must begin again.
 */
export function* inOrder(ledger: LedgerView, policy: Policy): Generator<Queued> {
  const priorities = new Map<number, QueueLine[]>();
  for (const line of ledger.waiting.lines()) {
    const known = priorities.get(line.priority);
    if (known === undefined) priorities.set(line.priority, [line]);
    else known.push(line);
  }
  const descending = [...priorities].sort(([a], [b]) => b - a);
  for (const [, lines] of descending) {
    for (const tenantLines of byShare(ledger, lines, policy)) yield* merged(tenantLines);
  }
}

function byShare(ledger: LedgerView, lines: readonly QueueLine[], policy: Policy): TenantLines[] {
  const tenants = new Map<string, TenantLines>();
  for (const { requester, namespace, entries } of lines) {
    const tenant = tenantOf(policy, requester, namespace);
    const line = { entries, next: 0 };
    const known = tenants.get(tenant);
    if (known === undefined) {
      tenants.set(tenant, { tenant, share: shareOf(ledger, tenant, policy), lines: [line] });
    } else known.lines.push(line);
  }
  return [...tenants.values()].sort((a, b) => a.share - b.share || compareFirst(a, b));
}

/** Of equal tenants the one whose first request came first. */
function compareFirst(a: TenantLines, b: TenantLines): number {
  const [first, other] = [firstOf(a), firstOf(b)];
  return first === undefined || other === undefined ? 0 : compareArrival(first, other);
}

function firstOf({ lines }: TenantLines): Waiting | undefined {
  return lines
    .map(({ entries }) => entries[0])
    .reduce((first, entry) => {
      if (first === undefined || entry === undefined) return first ?? entry;
      return compareArrival(entry, first) < 0 ? entry : first;
    }, undefined);
}

export function shareOf(ledger: LedgerView, tenant: string, policy: Policy): number {
  const account = ledger.tenants.get(tenant) ?? NOTHING_HELD;
  return dominantShare(account, ledger.candidateTable.lendable, tenantRules(policy, tenant).weight);
}

function* merged({ tenant, share, lines }: TenantLines): Generator<Queued> {
  for (;;) {
    let first: TenantLines["lines"][number] | undefined;
    for (const line of lines) if (isEarlier(line, first)) first = line;
    const entry = first?.entries[first.next];
    if (first === undefined || entry === undefined) return;
    first.next++;
    yield { entry, tenant, share };
  }
}

type ReadLine = TenantLines["lines"][number];

function isEarlier(line: ReadLine, other: ReadLine | undefined): boolean {
  const entry = line.entries[line.next];
  const best = other?.entries[other.next];
  if (entry === undefined) return false;
  return best === undefined || compareArrival(entry, best) < 0;
}
