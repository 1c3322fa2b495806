import { add, amountOf, NO_RESOURCES, type ResourceVector, resourceNames } from "@resource-broker/base";
import {
  isDrained,
  isFinal,
  isLive,
  type LedgerRecords,
  PHASES,
  type Phase,
  type Reservation,
  type Waiting,
} from "@resource-broker/domain";
import { StoreFailure } from "../store.ts";
import { memberContradiction } from "./member-contradiction.ts";

type CheckedRecords = Pick<LedgerRecords, "reservations" | "waiting" | "members" | "cordons">;

/** Throws if the records that a store returned contradict each other. `subject`: what holds them. */
export function refuseContradiction(records: CheckedRecords, subject = "the ledger"): void {
  const contradiction = contradictionIn(records);
  if (contradiction === undefined) return;
  throw new StoreFailure("corrupt", `${subject} contradicts itself: ${contradiction}; restore a backup`);
}

/**
 * Checks the records that a store returned, because building a ledger from wrong records raises no error. Returns the
 * first contradiction as text, or undefined.
 */
export function contradictionIn(records: CheckedRecords): string | undefined {
  const { reservations, waiting, members } = records;
  const keys = new Map<string, string>();
  const grantedByProvider = new Map<string, ResourceVector>();
  for (const reservation of reservations) {
    const wrong =
      contradictionOf(reservation) ??
      keyTaken(reservation, keys) ??
      uncountable(reservation, grantedByProvider);
    if (wrong !== undefined) return wrong;
  }
  return (
    waitingContradiction(waiting, { reservations, keys }) ??
    danglingNotice(records) ??
    memberContradiction(members)
  );
}

/** `keys` are those of the reservations. */
function waitingContradiction(
  waiting: readonly Waiting[],
  {
    reservations,
    keys,
  }: { readonly reservations: readonly Reservation[]; readonly keys: Map<string, string> },
): string | undefined {
  if (waiting.length === 0) return undefined;
  const granted = new Set(reservations.map(({ id }) => id));
  for (const entry of waiting) {
    const wrong = granted.has(entry.id)
      ? `request ${entry.id} waits, and is a reservation`
      : (wrongEntry(entry) ?? keyTaken(entry, keys));
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** A reservation is under notice for a request that still waits, or as long as its provider is cordoned. */
function danglingNotice({ reservations, waiting, cordons }: CheckedRecords): string | undefined {
  const underNotice = reservations.filter(
    ({ phase, preemption }) => preemption !== undefined && isLive(phase),
  );
  if (underNotice.length === 0) return undefined;
  const pending = new Map(
    waiting.filter(({ phase }) => phase === "Pending").map((entry) => [entry.id, entry]),
  );
  const cordoned = new Set(cordons.map(([clusterId]) => clusterId));
  const dangling = underNotice.find((each) =>
    isDrained(each)
      ? !cordoned.has(each.provider)
      : pending.get(each.preemption?.by ?? "")?.nominated?.victims?.includes(each.id) !== true,
  );
  return dangling && `reservation ${dangling.id} is under notice for no request that waits, and no drain`;
}

function wrongEntry(entry: Waiting): string | undefined {
  const { id, phase, requester, request, createdAt, until } = entry;
  if (!isWaitingPhase(phase)) return `waiting request ${id} is in phase ${phase}`;
  if (!requester) return `waiting request ${id} has no requester`;
  if (!isCountable(request.resources)) return `waiting request ${id} asks for an impossible amount`;
  if (!(until >= createdAt)) return `waiting request ${id} ends before it was made`;
  return wrongLeave(entry);
}

function isWaitingPhase(phase: Phase): boolean {
  return phase === "Pending" || isFinal(phase);
}

function wrongLeave({ id, phase, endedAt, keepUntil, reason }: Waiting): string | undefined {
  const fields = [endedAt, keepUntil, reason];
  const isWhole = fields.every((field) => (field === undefined) === (phase === "Pending"));
  return isWhole
    ? undefined
    : `request ${id} is ${phase}, yet ${phase === "Pending" ? "has" : "has not"} left the queue`;
}

function contradictionOf(reservation: Reservation): string | undefined {
  const { id, phase, granted } = reservation;
  if (!PHASES.includes(phase) || phase === "Pending") return `reservation ${id} is in phase ${phase}`;
  if (!isCountable(granted)) return `reservation ${id} grants an impossible amount`;
  return wrongParties(reservation) ?? wrongEnd(reservation);
}

function wrongParties({ id, requester, provider }: Reservation): string | undefined {
  if (!requester || !provider) return `reservation ${id} has no ${provider ? "requester" : "provider"}`;
  return requester === provider ? `reservation ${id}: ${provider} is both requester and provider` : undefined;
}

function wrongEnd({ id, phase, endedAt, keepUntil }: Reservation): string | undefined {
  const hasEnded = endedAt !== undefined && keepUntil !== undefined;
  return isLive(phase) === hasEnded
    ? `reservation ${id} is ${phase}, yet ${hasEnded ? "has" : "has not"} ended`
    : undefined;
}

type Keyed = Pick<Reservation, "id" | "requester" | "key">;

function keyTaken({ id, requester, key }: Keyed, keys: Map<string, string>): string | undefined {
  if (key === undefined) return undefined;
  const name = `${requester}\n${key}`;
  const other = keys.get(name);
  keys.set(name, id);
  return other === undefined ? undefined : `key ${key} of ${requester} made both ${other} and ${id}`;
}

function uncountable(
  { provider, phase, granted }: Reservation,
  grantedByProvider: Map<string, ResourceVector>,
): string | undefined {
  if (!isLive(phase)) return undefined;
  const total = add(grantedByProvider.get(provider) ?? NO_RESOURCES, granted);
  grantedByProvider.set(provider, total);
  return isCountable(total) ? undefined : `the reservations of ${provider} exceed what can be counted`;
}

function isCountable(vector: ResourceVector): boolean {
  return resourceNames(vector).every((name) => {
    const amount = amountOf(vector, name);
    return Number.isSafeInteger(amount) && amount >= 0;
  });
}
