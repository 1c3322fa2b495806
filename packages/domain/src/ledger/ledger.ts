import { type AccountView, type ClusterAccount, type Holds, openAccount, standingOf } from "./account.ts";
import type { AdoptionOffer } from "./adoption-offer.ts";
import type { AdoptionWindow } from "./adoption-window.ts";
import { Deadlines } from "./deadlines.ts";
import type { ClosedKey } from "./event.ts";
import type { Candidate } from "../deciding/candidate.ts";
import { Roster, type RosterView } from "../deciding/roster.ts";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import { isFinal } from "../reservation/lifecycle.ts";
import type { Reservation } from "../reservation/reservation.ts";

/**
 * The broker's truth. The container is changed in place by `apply` alone (copying a hundred thousand entries for
 * each grant would cost more than deciding it); the values inside are immutable and may be shared between copies.
 */
export interface Ledger {
  readonly accounts: Map<ClusterId, ClusterAccount>;
  /** The accounts of every cluster that has advertised, as deciding reads them. */
  readonly roster: Roster;
  /** Live ones, and ended ones for a day. */
  readonly reservations: Map<ReservationId, Reservation>;
  /** Which reservation an idempotency key is bound to. */
  readonly keys: Map<string, ReservationId>;
  readonly closedKeys: Map<string, ClosedKey>;
  /** Holds that one party offers for adoption, by that party. */
  readonly offers: Map<ClusterId, Map<ReservationId, AdoptionOffer>>;
  /** Which holds may be adopted; undefined: none, the ledger knows of no time that it has forgotten. */
  adoption: AdoptionWindow | undefined;
  readonly deadlines: Deadlines;
  /** The latest moment anything durable happened; time never runs behind it. */
  time: Instant;
}

/** What readers may do with a ledger: look. */
export interface LedgerView {
  readonly accounts: ReadonlyMap<ClusterId, AccountView>;
  readonly roster: RosterView;
  readonly reservations: ReadonlyMap<ReservationId, Reservation>;
  readonly keys: ReadonlyMap<string, ReservationId>;
  readonly closedKeys: ReadonlyMap<string, ClosedKey>;
  readonly offers: ReadonlyMap<ClusterId, ReadonlyMap<ReservationId, AdoptionOffer>>;
  readonly adoption: AdoptionWindow | undefined;
  readonly deadlines: Pick<Deadlines, "earliest" | "due">;
  readonly time: Instant;
}

export function emptyLedger(): Ledger {
  return {
    accounts: new Map(),
    roster: new Roster(),
    reservations: new Map(),
    keys: new Map(),
    closedKeys: new Map(),
    offers: new Map(),
    adoption: undefined,
    deadlines: new Deadlines(),
    time: 0,
  };
}

/** A copy that can go its own way; shares the immutable values. */
export function cloneLedger(ledger: Ledger): Ledger {
  const accounts = new Map([...ledger.accounts].map(([id, account]) => [id, cloneAccount(account)]));
  const roster = new Roster();
  for (const account of accounts.values()) if (hasAdvertised(account)) roster.refresh(account);
  return {
    accounts,
    roster,
    reservations: new Map(ledger.reservations),
    keys: new Map(ledger.keys),
    closedKeys: new Map(ledger.closedKeys),
    offers: new Map([...ledger.offers].map(([id, offers]) => [id, new Map(offers)])),
    adoption: ledger.adoption,
    deadlines: ledger.deadlines.clone(),
    time: ledger.time,
  };
}

export function accountOf(ledger: Ledger, clusterId: ClusterId, now: Instant): ClusterAccount {
  const known = ledger.accounts.get(clusterId);
  if (known !== undefined) return known;
  const account = openAccount(clusterId, now);
  ledger.accounts.set(clusterId, account);
  return account;
}

/** The holds of a provider, judged by this ledger. */
export function holdsOf(ledger: LedgerView, account: AccountView): Holds {
  return {
    lending: account.lending,
    usage: account.usage,
    hasEnded: (id) => {
      const reservation = ledger.reservations.get(id);
      return reservation?.provider === account.clusterId && isFinal(reservation.phase);
    },
  };
}

/** To be called whenever an account changed: recomputes what follows from it, for deciding to see. */
export function settleAccount(ledger: Ledger, account: ClusterAccount): void {
  if (!hasAdvertised(account)) return;
  Object.assign(account, standingOf(account.advertisement, account));
  ledger.roster.refresh(account);
}

/** One name for a key and its owner: keys of different requesters never meet. Cluster IDs hold no line break. */
export function keyName(requester: ClusterId, key: string): string {
  return `${requester}\n${key}`;
}

function hasAdvertised(account: ClusterAccount): account is ClusterAccount & Candidate {
  return account.advertisement !== undefined;
}

function cloneAccount(account: ClusterAccount): ClusterAccount {
  return {
    ...account,
    lending: new Map(account.lending),
    borrowing: new Map(account.borrowing),
    returned: new Map(account.returned),
  };
}
