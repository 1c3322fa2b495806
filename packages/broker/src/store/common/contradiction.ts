import { add, amountOf, NO_RESOURCES, type ResourceVector, resourceNames } from "@resource-broker/base";
import { isLive, PHASES, type Reservation } from "@resource-broker/domain";
import { StoreFailure } from "../store.ts";

type Reservations = { readonly reservations: readonly Reservation[] };

/** Throws if the records that a store returned contradict each other. `subject`: what holds them. */
export function refuseContradiction(records: Reservations, subject = "the ledger"): void {
  const contradiction = contradictionIn(records);
  if (contradiction === undefined) return;
  throw new StoreFailure("corrupt", `${subject} contradicts itself: ${contradiction}; restore a backup`);
}

/**
 * Checks the records that a store returned, because building a ledger from wrong records raises no error. Returns the
 * first contradiction as text, or undefined.
 */
export function contradictionIn({ reservations }: Reservations): string | undefined {
  const keys = new Map<string, string>();
  const grantedByProvider = new Map<string, ResourceVector>();
  for (const reservation of reservations) {
    const wrong =
      contradictionOf(reservation) ??
      keyTaken(reservation, keys) ??
      uncountable(reservation, grantedByProvider);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
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

function keyTaken({ id, requester, key }: Reservation, keys: Map<string, string>): string | undefined {
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
