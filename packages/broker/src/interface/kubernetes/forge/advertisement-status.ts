import {
  type ClusterAdvertisement,
  clusterAdvertisementKind,
  fitToSchema,
  formatTime,
  type ResourceQuantitiesDTO,
  toQuantities,
} from "@resource-broker/contract";
import {
  type AccountView,
  describeResources,
  type Instant,
  isZero,
  type Policy,
} from "@resource-broker/domain";
import { conditionIn, conditionsOf, isTrue, type Said } from "./conditions.ts";
import { type Ownership, saysTheSame } from "./same-status.ts";

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
export interface AdvertisementTelling {
  readonly now: Instant;
  readonly policy: Pick<Policy, "stalenessMs">;
  readonly ledgerId: string;
}

/** The outcome of the advertisement in an object. Views have none, because they show the ledger. */
export interface Receipt {
  readonly accepted?: NonNullable<AdvertisementStatus["accepted"]>;
  readonly refused?: NonNullable<AdvertisementStatus["refused"]>;
}

export interface AdvertisementSubject {
  /** Undefined if the ledger does not know the cluster. */
  readonly account: AccountView | undefined;
  readonly object?: ClusterAdvertisement;
  readonly receipt?: Receipt;
  /** The expected name, if the object has another one and is therefore ignored. */
  readonly rightName?: string;
}

/** The status of a cluster's advertisement: a view, or an agent's own object. */
export function advertisementStatus(
  subject: AdvertisementSubject,
  telling: AdvertisementTelling,
): AdvertisementStatus {
  const { account, object, receipt } = subject;
  const now = formatTime(telling.now);
  const said = conditionsFor(subject, telling);
  const observedGeneration = object?.metadata.generation;
  const isStale = conditionIn(said, ADVERTISEMENT_CONDITION.stale)?.status !== "False";
  return fitToSchema(clusterAdvertisementKind.status, {
    phase: isStale ? "Stale" : "Active",
    active: isTrue(said, ADVERTISEMENT_CONDITION.ready),
    ...(account?.advertisement === undefined ? {} : figuresOf(account)),
    message: messageOf(said, receipt),
    ...receipt,
    ledgerID: telling.ledgerId,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    conditions: conditionsOf(said, object?.status?.conditions, { now, observedGeneration }),
  });
}

function figuresOf(account: AccountView): Pick<AdvertisementStatus, "score" | "lastUpdateTime"> {
  return { score: scoreOf(account), lastUpdateTime: formatTime(account.receivedAt) };
}

function messageOf(said: readonly Said[], receipt: Receipt | undefined): string {
  const ready = conditionIn(said, ADVERTISEMENT_CONDITION.ready)?.message ?? "";
  return receipt?.refused === undefined ? ready : `Refused: ${receipt.refused.message}`;
}

/** What only the broker writes into the spec. */
export function brokerResources({ reserved, available }: Pick<AccountView, "reserved" | "available">): {
  readonly reserved: ResourceQuantitiesDTO;
  readonly available: ResourceQuantitiesDTO;
} {
  return { reserved: toQuantities(reserved), available: toQuantities(available) };
}

/** True if writing `status` would change nothing. */
export function isAdvertisementTold(status: AdvertisementStatus, object: ClusterAdvertisement): boolean {
  return saysTheSame(status, object.status, OWNED);
}

/** Time until the advertisement becomes stale; undefined if it is stale. */
export function freshForMs(
  { receivedAt }: Pick<AccountView, "receivedAt">,
  { now, policy }: Pick<AdvertisementTelling, "now" | "policy">,
): number | undefined {
  const leftMs = receivedAt + policy.stalenessMs - now;
  return leftMs < 0 ? undefined : leftMs + 1;
}

function isFresh(account: AccountView, telling: AdvertisementTelling): boolean {
  return freshForMs(account, telling) !== undefined;
}

function conditionsFor(subject: AdvertisementSubject, telling: AdvertisementTelling): Said[] {
  return [readiness(subject, telling), staleness(subject, telling), overcommitment(subject)];
}

function readiness({ account, rightName }: AdvertisementSubject, telling: AdvertisementTelling): Said {
  const not = (reason: string, message: string): Said => ({
    type: ADVERTISEMENT_CONDITION.ready,
    status: "False",
    reason,
    message,
  });
  if (rightName !== undefined)
    return not("NameMismatch", `Not read: the advertisement of this clusterID must be named ${rightName}.`);
  if (account?.advertisement === undefined)
    return not("NotHeard", "The broker has not received an advertisement.");
  if (!isFresh(account, telling)) return not("Stale", silence(account));
  if (account.cordon !== undefined) return not("Cordoned", cordonText(account.cordon.why));
  return {
    type: ADVERTISEMENT_CONDITION.ready,
    status: "True",
    reason: "Lending",
    message: `${describeResources(account.available)} can be lent.${withheldText(account)}`,
  };
}

function staleness({ account }: AdvertisementSubject, telling: AdvertisementTelling): Said {
  const type = ADVERTISEMENT_CONDITION.stale;
  if (account?.advertisement === undefined)
    return {
      type,
      status: "Unknown",
      reason: "NotHeard",
      message: "The broker has not received an advertisement.",
    };
  return isFresh(account, telling)
    ? { type, status: "False", reason: "Fresh", message: "The cluster advertises." }
    : { type, status: "True", reason: "Silent", message: silence(account) };
}

function overcommitment({ account }: AdvertisementSubject): Said {
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
function withheldText({ withheld }: AccountView): string {
  if (isZero(withheld)) return "";
  return ` ${describeResources(withheld)} reserved from other clusters are not counted: its older agent includes them in its capacity.`;
}

function silence({ receivedAt }: AccountView): string {
  return `No advertisement since ${formatTime(receivedAt)}: the cluster gets no new reservations.`;
}

function cordonText(why: string | undefined): string {
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
