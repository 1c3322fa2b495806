import { equals } from "@resource-broker/base";
import { type AccountView, type LedgerView, ledgerFrom } from "@resource-broker/domain";
import { recordsOf } from "@resource-broker/domain/testing";
import { type LedgerModel, type ModelReservation, UNITS } from "./ledger-model.ts";

/** Where the live ledger and the book differ; undefined when they agree. */
export function differsFromModel(ledger: LedgerView, model: LedgerModel): string | undefined {
  if (ledger.reservations.size !== model.entries.size)
    return `the ledger has ${ledger.reservations.size} reservations, the book ${model.entries.size}`;
  for (const entry of model.entries.values()) {
    const reservation = ledger.reservations.get(entry.id);
    if (reservation === undefined) return `${entry.id} is missing`;
    if (!isSame(reservation, entry)) return `${entry.id} differs: ${text(reservation)} and ${text(entry)}`;
  }
  return wrongKeys(ledger, model) ?? wrongAccounts(ledger, model);
}

function isSame(a: ModelReservation, b: ModelReservation): boolean {
  return (
    a.phase === b.phase &&
    a.generation === b.generation &&
    a.provider === b.provider &&
    a.expiresAt === b.expiresAt &&
    a.endedAt === b.endedAt &&
    a.reason === b.reason &&
    UNITS.every((unit) => a.granted[unit] === b.granted[unit])
  );
}

function wrongKeys(ledger: LedgerView, model: LedgerModel): string | undefined {
  if (ledger.keys.size !== model.keys.size) return "the ledger remembers other keys than the book";
  for (const [name, id] of model.keys)
    if (ledger.keys.get(name) !== id) return `key ${text(name)} is not ${id}`;
  if (ledger.closedKeys.size !== model.closedKeys.size) return "the ledger has other released keys";
  for (const name of model.closedKeys) if (!ledger.closedKeys.has(name)) return `key ${text(name)} is open`;
  return undefined;
}

function wrongAccounts({ accounts }: LedgerView, model: LedgerModel): string | undefined {
  for (const [provider, { receivedAt }] of model.newest) {
    const account = accounts.get(provider);
    if (account?.receivedAt !== receivedAt) return `${provider}: another advertisement is in force`;
    if ((account.cordon !== undefined) !== model.cordoned.has(provider)) return `${provider}: wrong cordon`;
    for (const unit of UNITS) {
      const [available, reserved] = [model.available(provider, unit), model.reserved(provider, unit)];
      if (account.available[unit] !== available || account.reserved[unit] !== reserved)
        return `${provider}: the ledger counts ${account.reserved[unit]} ${unit} reserved and ${account.available[unit]} available, a recount ${reserved} and ${available}`;
    }
  }
  return undefined;
}

/** Where a ledger that is built again from its records differs from the live one. */
export function differsWhenRebuilt(ledger: LedgerView, now: number): string | undefined {
  const again = ledgerFrom(recordsOf(ledger), now);
  if (again.reservations.size !== ledger.reservations.size) return "a rebuilt ledger has other reservations";
  if (again.keys.size !== ledger.keys.size) return "a rebuilt ledger has other keys";
  if (again.closedKeys.size !== ledger.closedKeys.size) return "a rebuilt ledger has other released keys";
  if (again.adoption !== ledger.adoption) return "a rebuilt ledger adopts other holds";
  if (again.deadlines.earliest?.at !== hardDeadline(ledger)) return "a rebuilt ledger has other deadlines";
  for (const [id, account] of ledger.accounts) {
    const other = again.accounts.get(id);
    if (other === undefined ? !isEmpty(account) : !isSameAccount(account, other))
      return `a rebuilt ledger has another page for ${id}`;
  }
  return undefined;
}

/** Offers for adoption are soft: a restart forgets them, and their deadlines. */
function hardDeadline({ deadlines }: LedgerView): number | undefined {
  const { earliest } = deadlines;
  if (earliest?.kind !== "adoption-offer") return earliest?.at;
  const hard = deadlines.due(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
  return Math.min(...hard.filter(({ kind }) => kind !== "adoption-offer").map(({ at }) => at));
}

const SUMS = [
  "reserved",
  "available",
  "grantedAsRequester",
  "grantedBefore",
  "withheld",
  "overcommitted",
] as const;
const LISTS = ["asProvider", "asRequester", "endedAsRequester", "refused"] as const;

function isSameAccount(a: AccountView, b: AccountView): boolean {
  return (
    a.closedKeyCount === b.closedKeyCount &&
    LISTS.every((list) => a[list]?.size === b[list]?.size) &&
    SUMS.every((sum) => equals(a[sum], b[sum]))
  );
}

function isEmpty({
  asProvider,
  asRequester,
  endedAsRequester,
  advertisement,
  cordon,
  closedKeyCount,
}: AccountView): boolean {
  const isUnused = asProvider.size === 0 && asRequester.size === 0 && endedAsRequester.size === 0;
  return isUnused && advertisement === undefined && cordon === undefined && closedKeyCount === 0;
}

function text(value: unknown): string {
  return JSON.stringify(value);
}
