import type { Advertisement } from "../advertisement/advertisement.ts";
import type { Instant } from "../reservation/ids.ts";
import { isCountable, type ResourceVector, sum } from "../resources/resource-vector.ts";
import { type AccountView, newAccount, totalReserved, usageById } from "./account.ts";
import { type Advertise, type Outcome, rejected } from "./command.ts";
import { type LedgerView, providerReservations } from "./ledger.ts";

export function decideAdvertise(ledger: LedgerView, { advertisement }: Advertise, now: Instant): Outcome {
  const account = ledger.accounts.get(advertisement.clusterId) ?? newAccount(advertisement.clusterId, now);
  const { instance } = advertisement;
  if (instance !== undefined && account.replacedInstances.includes(instance)) {
    return rejected(
      "superseded",
      `a newer agent process of ${advertisement.clusterId} has taken over; stop this one (instance ${instance})`,
    );
  }
  if (isStaleUpdate(account, advertisement)) return { events: [], reply: { kind: "advertised" } };

  const reserved = totalReserved({
    ...providerReservations(ledger, account),
    usage: usageById(advertisement),
  });
  const total = sum([reserved, advertisement.allocated, account.grantedAsRequester, account.grantedBefore]);
  if (![...vectorsOf(advertisement), total].every(isCountable)) {
    return rejected("invalid", "amounts must be whole, not negative, and together at most 2^53-1");
  }
  return { events: [{ kind: "advertised", at: now, advertisement }], reply: { kind: "advertised" } };
}

/** A repeated or delayed post of the same agent process; it changes nothing. */
function isStaleUpdate(
  { advertisement: newest }: AccountView,
  { instance, sequence }: Advertisement,
): boolean {
  if (instance === undefined || sequence === undefined || newest?.instance !== instance) return false;
  return newest.sequence !== undefined && sequence <= newest.sequence;
}

function vectorsOf({ capacity, allocatable, allocated, usage, nodeShapes }: Advertisement): ResourceVector[] {
  const reservationAmounts = usage.flatMap(({ granted, used }) => [granted, used]);
  return [
    capacity,
    allocatable,
    allocated,
    ...reservationAmounts,
    ...nodeShapes.map(({ resources }) => resources),
  ];
}
