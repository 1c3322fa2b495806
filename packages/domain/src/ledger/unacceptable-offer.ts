import { add, isCountable, isZero, NO_RESOURCES } from "@resource-broker/base";
import { MAX_RESERVATIONS_PER_PROVIDER } from "../advertisement/advertisement.ts";
import { isReservationIdOf } from "../reservation/ids.ts";
import { hasMaxReservations } from "../scheduling/candidate-table.ts";
import { mayLend } from "../scheduling/filters.ts";
import type { AdoptionOffer } from "./adoption-window.ts";
import { type DecisionContext, type Outcome, rejected } from "./command.ts";
import { refuseEvicted } from "./decide-member.ts";
import { overQuota } from "./quota.ts";
import { keyName, type LedgerView } from "./ledger.ts";

/** Far above any real generation, and a safe integer. */
const MAX_GENERATION = 2 ** 31;

/** The rejection of an adoption offer, if any. */
export function unacceptableOffer(
  ledger: LedgerView,
  offer: AdoptionOffer,
  { now, policy }: DecisionContext,
): Outcome | undefined {
  return (
    malformed(offer) ??
    refuseEvicted(ledger, offer.requester, offer.provider) ??
    outsideAdoptionWindow(ledger, offer, now) ??
    uncountable(ledger, offer) ??
    expired(offer, now) ??
    keyProblem(ledger, offer) ??
    beyondLimit(ledger, offer) ??
    forbiddenByPolicy(ledger, offer, policy)
  );
}

/** Rejects offers outside the adoption window: the ledger would know such a reservation. */
function outsideAdoptionWindow(
  { adoption }: LedgerView,
  { id, createdAt }: AdoptionOffer,
  now: number,
): Outcome | undefined {
  if (adoption === undefined || now >= adoption.until) {
    return rejected(
      "forbidden",
      `${id} is not in the ledger, and adoption is closed; an admin can open it: brokerctl adoption open --for 1h`,
    );
  }
  if (createdAt < adoption.since) return undefined;
  const began = new Date(adoption.since).toISOString();
  return rejected("forbidden", `${id} is not older than ${began}: only older reservations are adopted`);
}

/** The rules of a grant apply. A rejected reservation stays counted through its provider's usage reports. */
function forbiddenByPolicy(
  ledger: LedgerView,
  { requester, provider, granted }: AdoptionOffer,
  policy: DecisionContext["policy"],
): Outcome | undefined {
  if (!mayLend(policy, { provider, requester }))
    return rejected("forbidden", `${provider} does not lend to ${requester} (lending policy)`);
  return overQuota(ledger, { requester, request: { resources: granted } }, policy);
}

function malformed({ id, requester, provider, generation }: AdoptionOffer): Outcome | undefined {
  if (requester === provider) return rejected("invalid", "a cluster cannot lend to itself");
  if (!isReservationIdOf(id, requester))
    return rejected("invalid", `${id} is not an id of a reservation of ${requester}`);
  const isCounted = Number.isSafeInteger(generation) && generation >= 0 && generation < MAX_GENERATION;
  return isCounted ? undefined : rejected("invalid", `generation ${generation} is out of range`);
}

/** The sums must stay within safe integers. */
function uncountable(
  ledger: LedgerView,
  { granted, requester, provider }: AdoptionOffer,
): Outcome | undefined {
  const reserved = ledger.accounts.get(provider)?.reserved ?? NO_RESOURCES;
  const borrowed = ledger.accounts.get(requester)?.grantedAsRequester ?? NO_RESOURCES;
  const sums = [granted, add(reserved, granted), add(borrowed, granted)];
  if (!isZero(granted) && sums.every(isCountable)) return undefined;
  return rejected("invalid", "a reservation needs positive whole amounts within range");
}

function expired({ id, expiresAt }: AdoptionOffer, now: number): Outcome | undefined {
  if (expiresAt === undefined || (Number.isSafeInteger(expiresAt) && expiresAt > now)) return undefined;
  return rejected("already-ended", `${id} has expired`);
}

/** A closed key stays closed, and a key of another reservation stays bound to it. */
function keyProblem(ledger: LedgerView, { id, requester, key }: AdoptionOffer): Outcome | undefined {
  if (key === undefined) return undefined;
  const name = keyName(requester, key);
  if (ledger.closedKeys.has(name)) return rejected("key-released", `${requester} released the key of ${id}`);
  const bound = ledger.keys.get(name);
  if (bound === undefined || bound === id) return undefined;
  return rejected("ledger-conflict", `the key of ${id} belongs to ${bound}`);
}

/** A reservation that the provider already lists does not add to the limit. */
function beyondLimit(ledger: LedgerView, { id, provider }: AdoptionOffer): Outcome | undefined {
  const account = ledger.accounts.get(provider);
  if (account === undefined || !hasMaxReservations(account) || account.usage.has(id)) return undefined;
  const many = `has ${account.reservationCount} reservations; the maximum is ${MAX_RESERVATIONS_PER_PROVIDER}`;
  return rejected("quota-exceeded", `${provider} ${many}`);
}
