import { describeResources, formatTime, isZero } from "@resource-broker/base";
import { fitToSchema, type ResourceQuantitiesDTO, toQuantities } from "@resource-broker/contract";
import { type ClusterAdvertisement, clusterAdvertisementKind } from "@resource-broker/contract/crd";
import type { AccountView, Instant, Policy } from "@resource-broker/domain";
import {
  conditionIn,
  conditionsOf,
  type DesiredCondition,
  isSameStatus,
  isTrue,
  type Ownership,
} from "./conditions.ts";

export type AdvertisementStatus = NonNullable<ClusterAdvertisement["status"]>;

export const ADVERTISEMENT_CONDITION = {
  ready: "Ready",
  stale: "Stale",
  overcommitted: "Overcommitted",
} as const;

const OWNED: Ownership = {
  fields: [
    "phase",
    "active",
    "score",
    "accepted",
    "refused",
    "ledgerID",
    "message",
    "lastUpdateTime",
    "observedGeneration",
  ],
  conditions: Object.values(ADVERTISEMENT_CONDITION),
};

/** What a status is computed from, beside the account and the object it is written to. */
export interface AdvertisementStatusContext {
  readonly now: Instant;
  readonly policy: Pick<Policy, "stalenessMs">;
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
  const now = formatTime(context.now);
  const desired = conditionsFor(subject, context);
  const observedGeneration = object?.metadata.generation;
  const isStale = conditionIn(desired, ADVERTISEMENT_CONDITION.stale)?.status !== "False";
  return fitToSchema(clusterAdvertisementKind.status, {
    phase: isStale ? "Stale" : "Active",
    active: isTrue(desired, ADVERTISEMENT_CONDITION.ready),
    ...(account?.advertisement === undefined ? {} : scoreFields(account)),
    message: messageOf(desired, outcome),
    ...outcome,
    ledgerID: context.ledgerId,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    conditions: conditionsOf(desired, object?.status?.conditions, { now, observedGeneration }),
  });
}

function scoreFields(account: AccountView): Pick<AdvertisementStatus, "score" | "lastUpdateTime"> {
  return { score: scoreOf(account), lastUpdateTime: formatTime(account.receivedAt) };
}

function messageOf(desired: readonly DesiredCondition[], outcome: AdvertisementOutcome | undefined): string {
  const ready = conditionIn(desired, ADVERTISEMENT_CONDITION.ready)?.message ?? "";
  return outcome?.refused === undefined ? ready : `Refused: ${outcome.refused.message}`;
}

/** What only the broker writes into the spec. */
export function brokerResources({ reserved, available }: Pick<AccountView, "reserved" | "available">): {
  readonly reserved: ResourceQuantitiesDTO;
  readonly available: ResourceQuantitiesDTO;
} {
  return { reserved: toQuantities(reserved), available: toQuantities(available) };
}

/** True if writing `status` would change nothing. */
export function isAdvertisementStatusCurrent(
  status: AdvertisementStatus,
  object: ClusterAdvertisement,
): boolean {
  return isSameStatus(status, object.status, OWNED);
}

/** Time until the advertisement becomes stale; undefined if it is stale. */
export function freshForMs(
  { receivedAt }: Pick<AccountView, "receivedAt">,
  { now, policy }: Pick<AdvertisementStatusContext, "now" | "policy">,
): number | undefined {
  const leftMs = receivedAt + policy.stalenessMs - now;
  return leftMs < 0 ? undefined : leftMs + 1;
}

function isFresh(account: AccountView, context: AdvertisementStatusContext): boolean {
  return freshForMs(account, context) !== undefined;
}

function conditionsFor(
  subject: AdvertisementSubject,
  context: AdvertisementStatusContext,
): DesiredCondition[] {
  return [
    readyCondition(subject, context),
    staleCondition(subject, context),
    overcommittedCondition(subject),
  ];
}

function readyCondition(
  { account, expectedName }: AdvertisementSubject,
  context: AdvertisementStatusContext,
): DesiredCondition {
  const not = (reason: string, message: string): DesiredCondition => ({
    type: ADVERTISEMENT_CONDITION.ready,
    status: "False",
    reason,
    message,
  });
  if (expectedName !== undefined)
    return not(
      "NameMismatch",
      `Not read: the advertisement of this clusterID must be named ${expectedName}.`,
    );
  if (account?.advertisement === undefined)
    return not("NotHeard", "The broker has not received an advertisement.");
  if (!isFresh(account, context)) return not("Stale", staleMessage(account));
  if (account.cordon !== undefined) return not("Cordoned", cordonMessage(account.cordon.why));
  return {
    type: ADVERTISEMENT_CONDITION.ready,
    status: "True",
    reason: "Lending",
    message: `${describeResources(account.available)} can be lent.${withheldMessage(account)}`,
  };
}

function staleCondition(
  { account }: AdvertisementSubject,
  context: AdvertisementStatusContext,
): DesiredCondition {
  const type = ADVERTISEMENT_CONDITION.stale;
  if (account?.advertisement === undefined)
    return {
      type,
      status: "Unknown",
      reason: "NotHeard",
      message: "The broker has not received an advertisement.",
    };
  return isFresh(account, context)
    ? { type, status: "False", reason: "Fresh", message: "The cluster advertises." }
    : { type, status: "True", reason: "Silent", message: staleMessage(account) };
}

function overcommittedCondition({ account }: AdvertisementSubject): DesiredCondition {
  const type = ADVERTISEMENT_CONDITION.overcommitted;
  if (account === undefined || isZero(account.overcommitted))
    return {
      type,
      status: "False",
      reason: "Enough",
      message: "The cluster has capacity for all its reservations.",
    };
  const message = `The reservations of the cluster exceed its capacity by ${describeResources(account.overcommitted)}.`;
  return { type, status: "True", reason: "LentTooMuch", message };
}

/** Explains why the available capacity is lower than the cluster's own numbers. */
function withheldMessage({ withheld }: AccountView): string {
  if (isZero(withheld)) return "";
  return ` ${describeResources(withheld)} reserved from other clusters are not counted: its older agent includes them in its capacity.`;
}

function staleMessage({ receivedAt }: AccountView): string {
  return `No advertisement since ${formatTime(receivedAt)}: the cluster gets no new reservations.`;
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
