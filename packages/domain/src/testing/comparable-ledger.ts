import { type AccountView, receivedFrom } from "../ledger/account.ts";
import type { Deadline } from "../ledger/deadlines.ts";
import type { LedgerView } from "../ledger/ledger.ts";
import type { LedgerRecords } from "../ledger/records.ts";

/** A ledger as comparable data, without what a restart may change. */
export function comparableLedger(ledger: LedgerView): unknown {
  return {
    time: ledger.time,
    adoption: ledger.adoption,
    reservations: sorted(ledger.reservations),
    waiting: sorted(ledger.waiting.byId),
    lines: [...ledger.waiting.lines()]
      .map(({ entries, ...line }) => JSON.stringify([line, entries.map(({ id }) => id)]))
      .sort(),
    tenants: sorted(ledger.tenants),
    charges: sorted(ledger.charges),
    closedDays: [...ledger.closedDays.values()].sort((a, b) => a.day - b.day),
    keys: sorted(ledger.keys),
    closedKeys: sorted(ledger.closedKeys),
    members: sorted(ledger.members),
    liqoClaims: sorted(ledger.liqoClaims).map(([id, clusters]) => [id, [...clusters].sort()]),
    accounts: sorted(ledger.accounts)
      .filter(([, account]) => !isBlank(account))
      .map(([id, account]) => [id, comparableAccount(account)]),
    deadlines: ledger.deadlines
      .due(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
      .filter(({ kind }) => kind !== "adoption-offer" && kind !== "waiting")
      .map((deadline) => JSON.stringify(maySpare(ledger, deadline) ? { ...deadline, at: 0 } : deadline))
      .sort(),
  };
}

/** After a start no notice ends for a while, and no activation times out. */
function maySpare({ reservations }: LedgerView, { kind, id }: Deadline): boolean {
  const reservation = kind === "reservation" ? reservations.get(id) : undefined;
  if (reservation === undefined || reservation.keepUntil !== undefined) return false;
  const { phase, preemption, activateBy } = reservation;
  return preemption !== undefined || (phase === "Reserved" && activateBy !== undefined);
}

/**
 * All of an account but when its cluster was last heard (nobody counts as lost right after a restart) and plans. Nominations
 * count, but not when there is room for them.
 */
function comparableAccount(account: AccountView): unknown {
  const { from, roomBy: _, ...nomination } = account.kept ?? {};
  const kept = account.kept === undefined || from !== undefined ? undefined : nomination;
  return Object.entries(account)
    .filter(([name]) => name !== "lastSeenAt")
    .map(([name, value]) => [name, value instanceof Map ? sorted(value) : value])
    .map(([name, value]) => [name, name === "kept" ? kept : value]);
}

/** A cluster of which only the name is left. */
function isBlank({ advertisement, cordon, asProvider, asRequester, refused }: AccountView): boolean {
  const isUnused = asProvider.size === 0 && asRequester.size === 0 && refused === undefined;
  return isUnused && advertisement === undefined && cordon === undefined;
}

function sorted<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** What a store that has missed nothing holds of a ledger. */
export function recordsOf(ledger: LedgerView): LedgerRecords {
  const accounts = [...ledger.accounts.values()];
  return {
    reservations: [...ledger.reservations.values()],
    waiting: [...ledger.waiting.byId.values()],
    closedDays: [...ledger.closedDays.values()],
    closedKeys: [...ledger.closedKeys.values()],
    members: [...ledger.members.values()],
    cordons: accounts.flatMap(({ clusterId, cordon }) =>
      cordon === undefined ? [] : [[clusterId, cordon] as const],
    ),
    adoption: ledger.adoption,
    time: ledger.time,
    advertisements: accounts.flatMap((account) => receivedFrom(account) ?? []),
  };
}
