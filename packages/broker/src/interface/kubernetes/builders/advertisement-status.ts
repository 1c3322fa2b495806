import { describeResources, formatTime, isZero } from "@resource-broker/base";
import { type ResourceQuantitiesDTO, toQuantities } from "@resource-broker/contract";
import { type ClusterAdvertisement, clusterAdvertisementKind } from "@resource-broker/contract/crd";
import type { AccountView } from "@resource-broker/domain";
import { isStale, type StalenessMoment, staleMessage } from "../../shared/advertised-account.ts";
import { completeStatus, conditionMaker, type DesiredCondition, type StatusOwnership } from "./conditions.ts";

export type AdvertisementStatus = NonNullable<ClusterAdvertisement["status"]>;

export const ADVERTISEMENT_CONDITION = {
  ready: "Ready",
  stale: "Stale",
  overcommitted: "Overcommitted",
} as const;

/** These fields of the status belong to the store and other writers. */
export const ADVERTISEMENT_OWNERSHIP: StatusOwnership = {
  othersFields: ["holds", "epoch", "commit"],
  ownConditions: Object.values(ADVERTISEMENT_CONDITION),
  ignoresUpdateTime: false,
};

/** What a status is computed from, beside the account and the object it is written to. */
export interface AdvertisementStatusContext extends StalenessMoment {
  readonly ledgerId: string;
}

/** The outcome of the advertisement in an object. Views have none, because they show the ledger. */
export interface AdvertisementOutcome {
  readonly accepted?: NonNullable<AdvertisementStatus["accepted"]>;
  readonly refused?: NonNullable<AdvertisementStatus["refused"]>;
}

export interface AdvertisementSubject {
  /** Undefined if the ledger does not know the cluster. */
  readonly account: AccountView | undefined;
  readonly object?: ClusterAdvertisement;
  readonly outcome?: AdvertisementOutcome;
  /** The expected name, if the object has another one and is therefore ignored. */
  readonly expectedName?: string;
}

/** The status of a cluster's advertisement: a view, or an agent's own object. */
export function advertisementStatus(
  subject: AdvertisementSubject,
  context: AdvertisementStatusContext,
): AdvertisementStatus {
  const { account, object, outcome } = subject;
  const ready = readyCondition(subject, context);
  const stale = staleCondition(account, context);
  return completeStatus<AdvertisementStatus>(
    {
      phase: stale.status === "False" ? "Active" : "Stale",
      active: ready.status === "True",
      ...(account?.advertisement === undefined ? {} : scoreFields(account)),
      message: outcome?.refused === undefined ? ready.message : `Refused: ${outcome.refused.message}`,
      ...outcome,
      ledgerID: context.ledgerId,
    },
    [ready, stale, overcommittedCondition(account)],
    { schema: clusterAdvertisementKind.status, now: context.now, object },
  );
}

function scoreFields(account: AccountView): Pick<AdvertisementStatus, "score" | "lastUpdateTime"> {
  return { score: scoreOf(account), lastUpdateTime: formatTime(account.receivedAt) };
}

/** What only the broker writes into the spec. */
export function brokerResources({ reserved, available }: Pick<AccountView, "reserved" | "available">): {
  readonly reserved: ResourceQuantitiesDTO;
  readonly available: ResourceQuantitiesDTO;
} {
  return { reserved: toQuantities(reserved), available: toQuantities(available) };
}

const NOT_HEARD = ["NotHeard", "The broker has not received an advertisement."] as const;

function readyCondition(
  { account, expectedName }: AdvertisementSubject,
  context: AdvertisementStatusContext,
): DesiredCondition {
  const ready = conditionMaker(ADVERTISEMENT_CONDITION.ready);
  if (expectedName !== undefined) {
    const message = `Not read: the advertisement of this clusterID must be named ${expectedName}.`;
    return ready("False", "NameMismatch", message);
  }
  if (account?.advertisement === undefined) return ready("False", ...NOT_HEARD);
  if (account.evictedAt !== undefined) return ready("False", "Evicted", "An admin has evicted it.");
  if (isStale(account, context)) return ready("False", "Stale", staleMessage(account));
  if (account.cordon !== undefined) return ready("False", "Cordoned", cordonMessage(account.cordon.why));
  const lendable = `${describeResources(account.available)} can be lent.`;
  return ready("True", "Lending", `${lendable}${withheldMessage(account)}`);
}

function staleCondition(
  account: AccountView | undefined,
  context: AdvertisementStatusContext,
): DesiredCondition {
  const stale = conditionMaker(ADVERTISEMENT_CONDITION.stale);
  if (account?.advertisement === undefined) return stale("Unknown", ...NOT_HEARD);
  return isStale(account, context)
    ? stale("True", "Silent", staleMessage(account))
    : stale("False", "Fresh", "The cluster advertises.");
}

function overcommittedCondition(account: AccountView | undefined): DesiredCondition {
  const overcommitted = conditionMaker(ADVERTISEMENT_CONDITION.overcommitted);
  if (account === undefined || isZero(account.overcommitted))
    return overcommitted("False", "Enough", "The cluster has capacity for all its reservations.");
  const missing = describeResources(account.overcommitted);
  const message = `The reservations of the cluster exceed its capacity by ${missing}.`;
  return overcommitted("True", "LentTooMuch", message);
}

/** Explains why the available capacity is lower than the cluster's own numbers. */
function withheldMessage({ withheld }: AccountView): string {
  if (isZero(withheld)) return "";
  return ` ${describeResources(withheld)} reserved from other clusters are not counted: its older agent includes them in its capacity.`;
}

function cordonMessage(why: string | undefined): string {
  return why === undefined ? "An admin has cordoned it." : `An admin has cordoned it: ${why}`;
}

/** The free share of CPU and memory in percent, whatever is asked for. */
function scoreOf({ available, advertisement }: AccountView): string {
  const all = advertisement?.allocatable;
  const share = (free: number, whole: number | undefined): number =>
    whole === undefined || whole === 0 ? 0 : Math.min(1, Math.max(0, free / whole));
  const mean =
    (share(available.cpuMillis, all?.cpuMillis) + share(available.memoryBytes, all?.memoryBytes)) / 2;
  return (mean * 100).toFixed(2);
}
