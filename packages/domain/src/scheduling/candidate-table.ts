import {
  add,
  atLeastZero,
  mapSlots,
  NO_RESOURCES,
  type ResourceVector,
  subtract,
  writeSlots,
} from "@resource-broker/base";
import { type Advertisement, MAX_RESERVATIONS_PER_PROVIDER } from "../advertisement/advertisement.ts";
import { UNPRICED } from "../cost/price.ts";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import type { Reservation } from "../reservation/reservation.ts";

/** Offsets in a row. Amounts are in the ledger's units; prices are per unit and hour (NaN: not priced). */
export const COLUMN = {
  /** When its advertisement was received; NaN when the candidate is flagged and must run all filters. */
  receivedAt: 0,
  /** Of each slot, in the order of `SLOTS`. */
  available: 1,
  allocatable: 5,
  price: 9,
  /** Number of the currency; -1 when the price list has windows or there is none. */
  currency: 13,
} as const;

export const ROW_WIDTH = 16;
const INITIAL_ROWS = 16;
/** `receivedAt` of a flagged candidate: every comparison with NaN is false. */
const FLAGGED = Number.NaN;

/** Read-only view of a candidate table. */
export interface CandidateTableView {
  readonly candidates: readonly Candidate[];
  /** Row after row, `ROW_WIDTH` numbers each, in the order of `candidates`. */
  readonly values: Float64Array;
  /** Where a cluster's row begins. */
  readonly rowOf: (clusterId: ClusterId) => number | undefined;
  /** The number of a currency in the table; undefined when no candidate uses it. */
  readonly numberOfCurrency: (currency: string) => number | undefined;
  /** What all candidates together have for others, lent or not: their allocatable capacity less what they use themselves. */
  readonly lendable: ResourceVector;
}

/**
 * All candidates. The numbers that every decision reads are also in one flat array, so that a loop over ten thousand
 * candidates reads no objects. Call `refresh` after a candidate has changed.
 */
export class CandidateTable implements CandidateTableView {
  readonly candidates: Candidate[] = [];
  values = new Float64Array(INITIAL_ROWS * ROW_WIDTH);
  readonly #positions = new Map<ClusterId, number>();
  readonly #currencies = new Map<string, number>();
  /** The advertisement whose capacity is part of `lendable`, in the order of the candidates. */
  readonly #counted: (Advertisement | undefined)[] = [];
  lendable = NO_RESOURCES;

  /** Adds the candidate, or updates its row. */
  refresh(candidate: Candidate): void {
    let position = this.#positions.get(candidate.clusterId);
    if (position === undefined) {
      position = this.candidates.push(candidate) - 1;
      this.#positions.set(candidate.clusterId, position);
      this.#grow();
    }
    this.#countLendable(candidate, position);
    this.#writeRow(candidate, position * ROW_WIDTH);
  }

  rowOf(clusterId: ClusterId): number | undefined {
    const position = this.#positions.get(clusterId);
    return position === undefined ? undefined : position * ROW_WIDTH;
  }

  numberOfCurrency(currency: string): number | undefined {
    return this.#currencies.get(currency);
  }

  #countLendable({ advertisement, evictedAt }: Candidate, position: number): void {
    const before = this.#counted[position];
    const after = evictedAt === undefined ? advertisement : undefined;
    if (before === after) return;
    this.#counted[position] = after;
    this.lendable = add(subtract(this.lendable, lendableOf(before)), lendableOf(after));
  }

  #addCurrency(currency: string): number {
    const number = this.#currencies.get(currency) ?? this.#currencies.size;
    this.#currencies.set(currency, number);
    return number;
  }

  #grow(): void {
    if (this.candidates.length * ROW_WIDTH <= this.values.length) return;
    const larger = new Float64Array(this.values.length * 2);
    larger.set(this.values);
    this.values = larger;
  }

  #writeRow(candidate: Candidate, row: number): void {
    const { values } = this;
    const { available, advertisement, receivedAt } = candidate;
    const { allocatable, cost } = advertisement;
    values[row + COLUMN.receivedAt] = isFlagged(candidate) ? FLAGGED : receivedAt;
    writeSlots(available, values, row + COLUMN.available);
    writeSlots(allocatable, values, row + COLUMN.allocatable);
    const prices = mapSlots(({ priceSlot }) => cost?.onDemand[priceSlot] ?? UNPRICED);
    values.set(prices, row + COLUMN.price);
    const isPlain = cost !== undefined && cost.windows === undefined;
    values[row + COLUMN.currency] = isPlain ? this.#addCurrency(cost.currency) : -1;
  }
}

function lendableOf(advertisement: Advertisement | undefined): ResourceVector {
  if (advertisement === undefined) return NO_RESOURCES;
  return atLeastZero(subtract(advertisement.allocatable, advertisement.allocated));
}

/** A cluster that has advertised, as the scheduler sees it. The ledger's accounts are used directly, without a copy. */
export interface Candidate {
  readonly clusterId: ClusterId;
  readonly advertisement: Advertisement;
  readonly receivedAt: Instant;
  readonly reserved: ResourceVector;
  readonly available: ResourceVector;
  /** Capacity reserved from others that the cluster's older agent counts as its own: not lent again. */
  readonly withheld: ResourceVector;
  /** Reservations that are live here or still in its usage. */
  readonly reservationCount: number;
  readonly cordon: Cordon | undefined;
  readonly evictedAt?: Instant | undefined;
  /** Reservations this cluster refused after the grant; undefined when there are none. */
  readonly refused: ReadonlyMap<ReservationId, Reservation> | undefined;
  /** What it keeps for a waiting request. */
  readonly kept?: Kept | undefined;
}

/** True when the candidate is cordoned or evicted, keeps something for a waiting request, has refused a reservation or has too many. Rare; such candidates run all filters. */
function isFlagged(candidate: Candidate): boolean {
  const { cordon, evictedAt, refused, kept } = candidate;
  const isClosed = cordon !== undefined || evictedAt !== undefined;
  return isClosed || kept !== undefined || refused !== undefined || hasMaxReservations(candidate);
}

/** True when the `usage` list of its advertisement has no room for another reservation. */
export function hasMaxReservations({ reservationCount }: Pick<Candidate, "reservationCount">): boolean {
  return reservationCount >= MAX_RESERVATIONS_PER_PROVIDER;
}

/** Capacity of a provider that is kept for one waiting request. */
export interface Kept {
  readonly id: ReservationId;
  readonly provider: ClusterId;
  readonly priority: number;
  readonly resources: ResourceVector;
  /** When the request is expected to start; absent: as soon as enough is free (a nomination). */
  readonly from?: Instant;
  /** In a nomination: when enough will have been given back, by the ends that are known. Absent: they are not enough. */
  readonly roomBy?: Instant;
  /** Present in a plan: reservations that end by then give their capacity back in time. */
  readonly returnedBy?: Instant;
  /** What they, or the victims, have not given back yet. Of the candidate: as of now. */
  readonly returning: ResourceVector;
  /** Reservations that got notice for the request. */
  readonly victims?: readonly ReservationId[];
}

/** Set by an admin: existing reservations stay, no new ones are granted. */
export interface Cordon {
  readonly at: Instant;
  readonly by: ClusterId;
  readonly why?: string;
}
