import { parseTime } from "@resource-broker/base";
import type { ClusterAdvertisement } from "@resource-broker/contract/crd";
import type { AccountView, Advertisement, Instant } from "@resource-broker/domain";
import type { ObjectCache } from "@resource-broker/kube";
import { hasViewLabel } from "../builders/identify.ts";

/**
 * The owner of a ClusterAdvertisement is the last writer of the cluster's advertisement: the broker, which shows what it
 * received over HTTP (a view), or the cluster's agent, which writes the object.
 */
export type Owner =
  | "broker"
  | "agent"
  /** The broker owned it, but an agent has overwritten it: the broker removes its label. */
  | "handed-over";

export interface OwnershipCase {
  readonly object: ClusterAdvertisement;
  readonly account: AccountView | undefined;
  /** True: the kubernetes interface is on, and objects of agents count. */
  readonly objects: boolean;
  /** This process saw that only the view label was removed. */
  readonly isLabelRemoved: boolean;
}

export function ownerOf({ object, account, objects, isLabelRemoved }: OwnershipCase): Owner {
  if (hasViewLabel(object))
    return objects && isOverwrittenByAgent(object, account) ? "handed-over" : "broker";
  if (isLabelRemoved) return "broker";
  if (account?.advertisement === undefined) return "agent";
  // Without the kubernetes interface, only advertisements over HTTP count.
  return !objects || isAdvertisedOverHttp(object, account.advertisement, account.receivedAt)
    ? "broker"
    : "agent";
}

/**
 * True if an agent has overwritten a view: the instance is new or the advertisement is newer. The label is still there,
 * because agents may not change it. A person who edits a view does not change these fields.
 */
function isOverwrittenByAgent(
  { spec, status }: ClusterAdvertisement,
  account: AccountView | undefined,
): boolean {
  const advertisement = account?.advertisement;
  const shown = status?.accepted && versionOf(status.accepted);
  // A new ledger does not know the cluster: the view is the only record of earlier advertisements.
  const inLedger = advertisement === undefined ? shown : ledgerVersion(advertisement);
  if (inLedger === undefined) return false;
  const stated = versionOf(spec);
  const known = [inLedger, shown];
  if (known.some((version) => isSameVersion(stated, version))) return false;
  const isNewInstance =
    stated.instance !== undefined && known.every((version) => version?.instance !== stated.instance);
  return isNewInstance || isLater(stated, inLedger);
}

function isLater(a: AdvertisementVersion, b: AdvertisementVersion): boolean {
  return a.statedAt !== undefined && b.statedAt !== undefined && a.statedAt > b.statedAt;
}

/** True if the ledger received a newer advertisement than this object's last answer: the cluster uses HTTP now. */
function isAdvertisedOverHttp(
  { spec, status }: ClusterAdvertisement,
  advertisement: Advertisement,
  receivedAt: Instant,
): boolean {
  const { accepted, refused } = status ?? {};
  const stated = versionOf(spec);
  const isAnswered = [accepted, refused].some((answer) => answer && isSameVersion(stated, versionOf(answer)));
  // The advertisement in the object is not answered yet and may be the newest.
  if (!isAnswered) return false;
  const inLedger = ledgerVersion(advertisement);
  const isKnown =
    isSameVersion(inLedger, stated) || (accepted && isSameVersion(inLedger, versionOf(accepted)));
  return isKnown !== true && receivedAt > (parseTime(accepted?.at ?? "") ?? 0);
}

/**
 * Views whose label was removed without another change. An agent that takes over changes the advertisement in the same write.
 * The two cases can be told apart only by watching the change.
 */
interface RemovedLabels {
  readonly has: (name: string) => boolean;
  readonly stop: () => void;
}

export function watchRemovedLabels(known: ObjectCache<ClusterAdvertisement>): RemovedLabels {
  const names = new Set<string>();
  const stop = known.listen((key, now, before) => {
    const name = key.slice(key.indexOf("/") + 1);
    if (now === undefined || before === undefined || hasViewLabel(now)) names.delete(name);
    else if (hasViewLabel(before) && isOnlyLabelRemoved(now, before)) names.add(name);
    else if (!isSameAdvertisement(now, before)) names.delete(name);
  });
  return { has: (name) => names.has(name), stop };
}

/** True if only the label was removed, from a view that the broker had written completely. */
function isOnlyLabelRemoved(now: ClusterAdvertisement, before: ClusterAdvertisement): boolean {
  const accepted = before.status?.accepted;
  const isShown = accepted !== undefined && isSameVersion(versionOf(now.spec), versionOf(accepted));
  return isShown && isSameAdvertisement(now, before);
}

function isSameAdvertisement(now: ClusterAdvertisement, before: ClusterAdvertisement): boolean {
  return (
    now.metadata.uid === before.metadata.uid && isSameVersion(versionOf(now.spec), versionOf(before.spec))
  );
}

/** Identifies an advertisement of a cluster: equal versions are the same advertisement. */
interface AdvertisementVersion {
  readonly statedAt: Instant | undefined;
  readonly instance: string | undefined;
  readonly sequence: number | undefined;
}

type Versioned = Pick<ClusterAdvertisement["spec"], "timestamp" | "instance" | "sequence">;

/** Of a spec, or of an answer in the status. */
export function versionOf({ timestamp, instance, sequence }: Versioned): AdvertisementVersion {
  return { statedAt: parseTime(timestamp), instance, sequence };
}

export function ledgerVersion({ statedAt, instance, sequence }: Advertisement): AdvertisementVersion {
  return { statedAt, instance, sequence };
}

export function isSameVersion(a: AdvertisementVersion, b: AdvertisementVersion | undefined): boolean {
  return (
    b !== undefined && a.statedAt === b.statedAt && a.instance === b.instance && a.sequence === b.sequence
  );
}

/** As an answer in the status repeats it. */
export function versionFields({ timestamp, instance, sequence }: Versioned): Versioned {
  return {
    timestamp,
    ...(instance === undefined ? {} : { instance }),
    ...(sequence === undefined ? {} : { sequence }),
  };
}
