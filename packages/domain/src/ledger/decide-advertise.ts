import { describeResources } from "../quantity/format-amount.ts";
import type { Instant } from "../reservation/ids.ts";
import { add, isSafe } from "../resources/resource-vector.ts";
import { type ClusterAccount, openAccount, reservedOf, usageById } from "./account.ts";
import { type Advertise, type Outcome, rejected } from "./command.ts";
import { holdsOf, type LedgerView } from "./ledger.ts";

export function decideAdvertise(ledger: LedgerView, { advertisement }: Advertise, now: Instant): Outcome {
  const account = ledger.accounts.get(advertisement.clusterId) ?? openAccount(advertisement.clusterId, now);
  const { instance, sequence = 0 } = advertisement;
  if (instance !== undefined && account.replacedInstances.includes(instance)) {
    return rejected(
      "superseded",
      `a newer agent speaks for ${advertisement.clusterId}; stop this one (instance ${instance})`,
    );
  }
  if (isOldNews(account, instance, sequence)) return { events: [], reply: { kind: "advertised" } };

  const reserved = reservedOf({ ...holdsOf(ledger, account), usage: usageById(advertisement) });
  const total = add(add(reserved, advertisement.allocated), account.borrowed);
  if (!isSafe(total)) {
    return rejected(
      "invalid",
      `allocated and usage add up to more than can be counted: ${describeResources(total)}`,
    );
  }
  return { events: [{ kind: "advertised", at: now, advertisement }], reply: { kind: "advertised" } };
}

/** A repeated or overtaken post of the same agent process: harmless, and changes nothing. */
function isOldNews(account: ClusterAccount, instance: string | undefined, sequence: number): boolean {
  const newest = account.advertisement;
  return instance !== undefined && newest?.instance === instance && sequence <= (newest.sequence ?? 0);
}
