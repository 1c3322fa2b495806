import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import { type EndReason, isFinal, nextPhase, type Phase } from "../reservation/lifecycle.ts";
import type { ReservationRequest } from "../reservation/reservation.ts";

/**
 * A request that waits for capacity. When it is granted, a reservation with its ID takes its place; if it leaves the queue
 * in another way, it stays readable for a day.
 */
export interface Waiting {
  readonly id: ReservationId;
  readonly requester: ClusterId;
  /** Namespace of the request in its own cluster; the policy may give namespaces to tenants. */
  readonly namespace?: string;
  readonly request: ReservationRequest;
  readonly key: string;
  /** Protocol of the call that asked. */
  readonly protocol: number;
  /** Pending, or final. */
  readonly phase: Phase;
  readonly reason?: EndReason;
  readonly message?: string;
  readonly createdAt: Instant;
  /** Its place among requests of the same priority and tenant. */
  readonly since: Instant;
  /** It fails if it has not been granted by then. */
  readonly until: Instant;
  readonly endedAt?: Instant;
  /** Until when one that has left the queue is remembered. */
  readonly keepUntil?: Instant;
  /** The provider whose free capacity is kept for it. */
  readonly nominated?: Nomination;
  /** When reservations got notice for it. */
  readonly noticesAt?: readonly Instant[];
  readonly generation: number;
}

export interface Nomination {
  readonly provider: ClusterId;
  readonly since: Instant;
  /** Reservations that got notice for it. */
  readonly victims?: readonly ReservationId[];
}

/** Since when a request has been the first of its tenant that only lacks capacity: others may overtake it. */
export interface QueueTurn {
  readonly id: ReservationId;
  readonly since: Instant;
  /** The start that was computed for it when it was first of all, if there was one. */
  readonly from?: Instant;
}

/** When enough will have been given back for a nominated request. */
export interface NominatedRoom {
  readonly provider: ClusterId;
  readonly by: Instant;
}

/** Victims were sought for a request, and none were found. */
export interface PreemptionLook {
  readonly id: ReservationId;
  readonly at: Instant;
}

/** How long one that has left the queue is remembered. */
const LEFT_RETENTION_MS = 24 * 60 * 60 * 1000;

/** The entry after it was nominated to a provider, or its nomination has lapsed. */
export function nominate(
  entry: Waiting,
  event: {
    readonly at: Instant;
    readonly provider?: ClusterId;
    readonly victims?: readonly ReservationId[];
  },
): Waiting {
  const { nominated: _, ...rest } = entry;
  const { at, provider, victims } = event;
  const notice = victims === undefined ? {} : { victims };
  return {
    ...rest,
    ...(provider === undefined ? {} : { nominated: { provider, since: at, ...notice } }),
    ...(victims === undefined ? {} : { noticesAt: [...(entry.noticesAt ?? []), at] }),
    generation: entry.generation + 1,
  };
}

/** The entry after it has left the queue without a grant. Throws where the lifecycle forbids it. */
export function leaveQueue(
  entry: Waiting,
  { at, reason, message }: { readonly at: Instant; readonly reason: EndReason; readonly message?: string },
): Waiting {
  const phase = nextPhase(entry.phase, reason);
  if (phase === undefined)
    throw new Error(`${entry.id} is ${entry.phase}: cannot leave the queue (${reason})`);
  const { nominated: _, ...rest } = entry;
  return {
    ...rest,
    phase,
    reason,
    ...(message === undefined ? {} : { message }),
    endedAt: at,
    keepUntil: at + LEFT_RETENTION_MS,
    generation: entry.generation + 1,
  };
}

/** The pending requests of a cluster. */
export function* pendingOf(waiting: WaitingView, requester: ClusterId): Generator<Waiting> {
  for (const line of waiting.lines()) if (line.requester === requester) yield* line.entries;
}

export function hasPending(waiting: WaitingView, requester: ClusterId): boolean {
  return waiting.pendingCount > 0 && !pendingOf(waiting, requester).next().done;
}

/** Requests of one priority, cluster and namespace, first come first. */
export interface QueueLine {
  readonly priority: number;
  readonly requester: ClusterId;
  readonly namespace: string | undefined;
  readonly entries: readonly Waiting[];
}

/** Read-only view of the waiting requests. */
export interface WaitingView {
  /** Those that wait, and for a day those that left without a grant. */
  readonly byId: ReadonlyMap<ReservationId, Waiting>;
  readonly pendingCount: number;
  readonly lines: () => Iterable<QueueLine>;
}

/** The waiting requests, sorted into lines: the order inside a line depends on neither policy nor time. */
export class WaitingTable implements WaitingView {
  readonly byId = new Map<ReservationId, Waiting>();
  readonly #lines = new Map<string, QueueLine & { readonly entries: Waiting[] }>();
  pendingCount = 0;

  lines(): Iterable<QueueLine> {
    return this.#lines.values();
  }

  put(entry: Waiting): void {
    this.remove(entry.id);
    this.byId.set(entry.id, entry);
    if (isFinal(entry.phase)) return;
    this.pendingCount++;
    const { entries } = this.#lineOf(entry);
    entries.splice(placeOf(entry, entries), 0, entry);
  }

  remove(id: ReservationId): void {
    const entry = this.byId.get(id);
    if (entry === undefined) return;
    this.byId.delete(id);
    if (isFinal(entry.phase)) return;
    this.pendingCount--;
    const line = this.#lineOf(entry);
    line.entries.splice(placeOf(entry, line.entries), 1);
    if (line.entries.length === 0) this.#lines.delete(lineName(entry));
  }

  clone(): WaitingTable {
    const copy = new WaitingTable();
    for (const [id, entry] of this.byId) copy.byId.set(id, entry);
    for (const [name, line] of this.#lines) copy.#lines.set(name, { ...line, entries: [...line.entries] });
    copy.pendingCount = this.pendingCount;
    return copy;
  }

  #lineOf(entry: Waiting) {
    const name = lineName(entry);
    const known = this.#lines.get(name);
    if (known !== undefined) return known;
    const { requester, namespace, request } = entry;
    const line = { priority: request.priority, requester, namespace, entries: [] };
    this.#lines.set(name, line);
    return line;
  }
}

/** Negative when `a` came first. */
export function compareArrival(a: Waiting, b: Waiting): number {
  return a.since - b.since || (a.id < b.id ? -1 : Number(a.id > b.id));
}

/** Where the entry is in the line, or belongs. Usually at its end or beginning. */
function placeOf(entry: Waiting, entries: readonly Waiting[]): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = entries[middle];
    if (other !== undefined && compareArrival(other, entry) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Cluster IDs and namespaces contain no line break. */
function lineName({ request, requester, namespace = "" }: Waiting): string {
  return `${request.priority}\n${requester}\n${namespace}`;
}
