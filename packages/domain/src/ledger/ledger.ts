import { add, exceeds, NO_RESOURCES, type ResourceVector } from "@resource-broker/base";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import { isFinal } from "../reservation/lifecycle.ts";
import type { Reservation } from "../reservation/reservation.ts";
import {
  type Candidate,
  CandidateTable,
  type CandidateTableView,
  type Kept,
} from "../scheduling/candidate-table.ts";
import {
  type AccountView,
  type ClusterAccount,
  deriveCapacity,
  newAccount,
  type ProviderReservations,
  reservedFor,
} from "./account.ts";
import type { AdoptionOffer, AdoptionWindow } from "./adoption-window.ts";
import {
  type Charges,
  type ChargesView,
  cloneCharges,
  type ClosedDay,
  type UtcDay,
  utcDay,
} from "../queue/charges.ts";
import type { TenantAccount } from "../queue/tenants.ts";
import { type PreemptionLook, type QueueTurn, WaitingTable, type WaitingView } from "../queue/waiting.ts";
import { Deadlines } from "./deadlines.ts";
import type { ClosedKey } from "./event.ts";
import type { Member } from "./member.ts";
import { NOTHING_SPARED, type Spared } from "./spared.ts";

/**
 * The state of the broker. Only `apply` changes it, in place, because copying a hundred thousand entries per grant is too
 * expensive. The values inside are immutable and may be shared between copies.
 */
export interface Ledger {
  readonly accounts: Map<ClusterId, ClusterAccount>;
  /** The accounts of all clusters that have advertised, for the scheduler. */
  readonly candidateTable: CandidateTable;
  /** Live ones, and ended ones for a day. */
  readonly reservations: Map<ReservationId, Reservation>;
  /** Requests that wait for capacity. */
  readonly waiting: WaitingTable;
  /** True: no waiting request can be granted, as far as the last look went. Not stored: after a restart it is looked again. */
  isSettled: boolean;
  /** The day of that look, or on which the first began to wait: on another day budgets allow other requests. Not stored. */
  settledOn: UtcDay;
  /** When waiting requests are expected to start. Not stored. */
  readonly plans: Map<ReservationId, Kept>;
  /** Waiting requests that have been the first of their tenant, and since when: others may have overtaken them. Not stored. */
  turns: readonly QueueTurn[];
  /** For whom victims were sought in vain, and when last. Not stored. */
  looked: readonly PreemptionLook[];
  /** Derived from the live reservations. */
  readonly tenants: Map<string, TenantAccount>;
  /** Derived from all reservations: what they cost their tenants by day. */
  readonly charges: Map<string, Charges>;
  /** What was charged on days that are over. */
  readonly closedDays: Map<UtcDay, ClosedDay>;
  /** Which reservation or waiting request an idempotency key is bound to. */
  readonly keys: Map<string, ReservationId>;
  readonly closedKeys: Map<string, ClosedKey>;
  /** Clusters that were invited, evicted, or have an identity key. */
  readonly members: Map<ClusterId, Member>;
  /** Derived from the advertisements: the clusters that advertise a Liqo ID. More than one only after an eviction. */
  readonly liqoClaims: Map<string, readonly ClusterId[]>;
  /** Reservations offered for adoption, by the offering party. */
  readonly offers: Map<ClusterId, Map<ReservationId, AdoptionOffer>>;
  /** The adoption window; undefined: nothing is adopted. */
  adoption: AdoptionWindow | undefined;
  readonly deadlines: Deadlines;
  /** Time of the latest durable event; the ledger's time never goes back behind it. */
  time: Instant;
  /** When it was read from its store. Not stored. */
  startedAt: Instant;
  /** What ends or fails no earlier than some time after the start. Not stored. */
  spared: Spared;
}

/** Read-only view of a ledger. */
export interface LedgerView {
  readonly accounts: ReadonlyMap<ClusterId, AccountView>;
  readonly candidateTable: CandidateTableView;
  readonly reservations: ReadonlyMap<ReservationId, Reservation>;
  readonly waiting: WaitingView;
  readonly isSettled: boolean;
  readonly settledOn: UtcDay;
  readonly plans: ReadonlyMap<ReservationId, Kept>;
  readonly turns: readonly QueueTurn[];
  readonly looked: readonly PreemptionLook[];
  readonly tenants: ReadonlyMap<string, TenantAccount>;
  readonly charges: ReadonlyMap<string, ChargesView>;
  readonly closedDays: ReadonlyMap<UtcDay, ClosedDay>;
  readonly keys: ReadonlyMap<string, ReservationId>;
  readonly closedKeys: ReadonlyMap<string, ClosedKey>;
  readonly members: ReadonlyMap<ClusterId, Member>;
  readonly liqoClaims: ReadonlyMap<string, readonly ClusterId[]>;
  readonly offers: ReadonlyMap<ClusterId, ReadonlyMap<ReservationId, AdoptionOffer>>;
  readonly adoption: AdoptionWindow | undefined;
  readonly deadlines: Pick<Deadlines, "earliest" | "due">;
  readonly time: Instant;
  readonly startedAt: Instant;
  readonly spared: Spared;
}

export function emptyLedger(): Ledger {
  return {
    accounts: new Map(),
    candidateTable: new CandidateTable(),
    reservations: new Map(),
    waiting: new WaitingTable(),
    isSettled: true,
    settledOn: 0,
    plans: new Map(),
    turns: [],
    looked: [],
    tenants: new Map(),
    charges: new Map(),
    closedDays: new Map(),
    keys: new Map(),
    closedKeys: new Map(),
    members: new Map(),
    liqoClaims: new Map(),
    offers: new Map(),
    adoption: undefined,
    deadlines: new Deadlines(),
    time: 0,
    startedAt: 0,
    spared: NOTHING_SPARED,
  };
}

/** An independent copy; shares the immutable values. */
export function cloneLedger(ledger: Ledger): Ledger {
  const accounts = new Map([...ledger.accounts].map(([id, account]) => [id, cloneAccount(account)]));
  const candidateTable = new CandidateTable();
  for (const account of accounts.values()) if (hasAdvertised(account)) candidateTable.refresh(account);
  return {
    accounts,
    candidateTable,
    reservations: new Map(ledger.reservations),
    waiting: ledger.waiting.clone(),
    isSettled: ledger.isSettled,
    settledOn: ledger.settledOn,
    plans: new Map(ledger.plans),
    turns: ledger.turns,
    looked: ledger.looked,
    tenants: new Map(ledger.tenants),
    charges: new Map([...ledger.charges].map(([tenant, charges]) => [tenant, cloneCharges(charges)])),
    closedDays: new Map(ledger.closedDays),
    keys: new Map(ledger.keys),
    closedKeys: new Map(ledger.closedKeys),
    members: new Map(ledger.members),
    liqoClaims: new Map(ledger.liqoClaims),
    offers: new Map([...ledger.offers].map(([id, offers]) => [id, new Map(offers)])),
    adoption: ledger.adoption,
    deadlines: ledger.deadlines.clone(),
    time: ledger.time,
    startedAt: ledger.startedAt,
    spared: ledger.spared,
  };
}

export function accountOf(ledger: Ledger, clusterId: ClusterId, now: Instant): ClusterAccount {
  const known = ledger.accounts.get(clusterId);
  if (known !== undefined) return known;
  const account = newAccount(clusterId, now);
  account.evictedAt = ledger.members.get(clusterId)?.evictedAt;
  ledger.accounts.set(clusterId, account);
  return account;
}

/** The reservations and usage of a provider, with their state in this ledger. */
export function providerReservations(ledger: LedgerView, account: AccountView): ProviderReservations {
  return {
    asProvider: account.asProvider,
    usage: account.usage,
    hasEnded: (id) => {
      const reservation = ledger.reservations.get(id);
      return reservation?.provider === account.clusterId && isFinal(reservation.phase);
    },
  };
}

/** What one reservation takes from its provider. */
export interface Holding {
  readonly reservation: Reservation;
  readonly amount: ResourceVector;
  /** Absent: its end is not known. Past: it has ended and is being torn down. */
  readonly endsAt: Instant | undefined;
}

/** All that is reserved of a provider; not what its agent holds and the ledger does not know. */
export function* holdingsOf(ledger: LedgerView, account: AccountView): Generator<Holding> {
  const reservations = providerReservations(ledger, account);
  for (const reservation of account.asProvider.values())
    yield {
      reservation,
      amount: reservedFor(reservation.id, reservations),
      endsAt: reservation.expiresAt,
    };
  for (const id of account.usage.keys()) {
    const ended = reservations.hasEnded(id) ? ledger.reservations.get(id) : undefined;
    if (ended !== undefined)
      yield { reservation: ended, amount: reservedFor(id, reservations), endsAt: ended.endedAt };
  }
}

/** With what is not available yet: of those that have ended by then, or will have, or of the victims. */
function withReturning(ledger: LedgerView, account: AccountView, kept: Kept): Kept {
  const { id: by, returnedBy, victims } = kept;
  if (returnedBy === undefined && victims === undefined) return kept;
  let returning = NO_RESOURCES;
  for (const { reservation, amount, endsAt } of holdingsOf(ledger, account)) {
    const isBack =
      returnedBy === undefined
        ? victims?.includes(reservation.id) === true && reservation.preemption?.by === by
        : endsAt !== undefined && endsAt <= returnedBy;
    if (isBack) returning = add(returning, amount);
  }
  return { ...kept, returning };
}

/** Recomputes the derived fields and the candidate row. Call it after every change of an account. */
export function refreshAccount(ledger: Ledger, account: ClusterAccount): void {
  if (!hasAdvertised(account)) return;
  // What has come back meanwhile is available: it must not count a second time.
  if (account.kept !== undefined) account.kept = withReturning(ledger, account, account.kept);
  const { available } = account;
  Object.assign(account, deriveCapacity(account.advertisement, account));
  if (exceeds(account.available, available)) unsettle(ledger);
  ledger.candidateTable.refresh(account);
}

/** Something has changed that may let a waiting request in. */
export function unsettle(ledger: Ledger): void {
  if (ledger.waiting.pendingCount > 0) ledger.isSettled = false;
}

/** True when no waiting request can be granted, as far as is known. On a new day a budget may allow one. */
export function isSettledAt({ isSettled, settledOn, waiting }: LedgerView, now: Instant): boolean {
  return isSettled && (waiting.pendingCount === 0 || settledOn === utcDay(now));
}

/** Combines requester and key into one map key. Cluster IDs contain no line break, so it is unique. */
export function keyName(requester: ClusterId, key: string): string {
  return `${requester}\n${key}`;
}

function hasAdvertised(account: ClusterAccount): account is ClusterAccount & Candidate {
  return account.advertisement !== undefined;
}

function cloneAccount(account: ClusterAccount): ClusterAccount {
  return {
    ...account,
    asProvider: new Map(account.asProvider),
    asRequester: new Map(account.asRequester),
    endedAsRequester: new Map(account.endedAsRequester),
  };
}
