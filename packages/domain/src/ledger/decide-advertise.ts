import type { Advertisement } from "../advertisement/advertisement.ts";
import type { Instant } from "../reservation/ids.ts";
import { isCountable, type ResourceVector, sum } from "../resources/resource-vector.ts";
import { type AccountView, openAccount, reservedOf, usageById } from "./account.ts";
import { type Advertise, type Outcome, rejected } from "./command.ts";
import { holdsOf, type LedgerView } from "./ledger.ts";

export function decideAdvertise(ledger: LedgerView, { advertisement }: Advertise, now: Instant): Outcome {
  const account = ledger.accounts.get(advertisement.clusterId) ?? openAccount(advertisement.clusterId, now);
  const { instance } = advertisement;
  if (instance !== undefined && account.replacedInstances.includes(instance)) {
    return rejected(
      "superseded",
      `a newer agent process of ${advertisement.clusterId} has taken over; stop this one (instance ${instance})`,
    );
  }
  if (isOldNews(account, advertisement)) return { events: [], reply: { kind: "advertised" } };

  const reserved = reservedOf({ ...holdsOf(ledger, account), usage: usageById(advertisement) });
  const total = sum([reserved, advertisement.allocated, account.borrowed, account.borrowedBefore]);
  if (![...vectorsOf(advertisement), total].every(isCountable)) {
    return rejected("invalid", "amounts must be whole, not negative, and together at most 2^53-1");
  }
  return { events: [{ kind: "advertised", at: now, advertisement }], reply: { kind: "advertised" } };
}

/** A repeated or delayed post of the same agent process; it changes nothing. */
function isOldNews({ advertisement: newest }: AccountView, { instance, sequence }: Advertisement): boolean {
  if (instance === undefined || sequence === undefined || newest?.instance !== instance) return false;
  return newest.sequence !== undefined && sequence <= newest.sequence;
}

function vectorsOf({ capacity, allocatable, allocated, usage, nodeShapes }: Advertisement): ResourceVector[] {
  const held = usage.flatMap(({ granted, used }) => [granted, used]);
  return [capacity, allocatable, allocated, ...held, ...nodeShapes.map(({ resources }) => resources)];
}
