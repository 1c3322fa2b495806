import { type ClusterAdvertisement, KUBE_LABEL, parseTime } from "@resource-broker/contract";
import type { AccountView, Advertisement, Instant } from "@resource-broker/domain";
import { isSameStamp, ledgerStamp, type Stamp, stampOf } from "./stamp.ts";

/**
 * The owner of a ClusterAdvertisement is the last writer of the cluster's advertisement: the broker, which shows what it
 * received over HTTP (a view), or the cluster's agent, which writes the object.
 */
export type Owner =
  | "broker"
  | "agent"
  /** The broker owned it, but an agent has overwritten it: the broker removes its label. */
  | "handed-over";

export interface Claim {
  readonly object: ClusterAdvertisement;
  readonly account: AccountView | undefined;
  /** The kubernetes interface is on: agents' objects are listened to. */
  readonly objects: boolean;
  /** This process saw that only the view label was removed. */
  readonly isTorn: boolean;
}

export function ownerOf({ object, account, objects, isTorn }: Claim): Owner {
  const isLabelled = object.metadata.labels?.[KUBE_LABEL.view] === "true";
  if (isLabelled) return objects && isSpokenThrough(object, account) ? "handed-over" : "broker";
  if (isTorn) return "broker";
  if (account?.advertisement === undefined) return "agent";
  // Without the kubernetes interface, only advertisements over HTTP count.
  return !objects || isHeardElsewhere(object, account.advertisement, account.receivedAt) ? "broker" : "agent";
}

/**
 * True if an agent has overwritten a view: the instance is new or the advertisement is newer. The label is still there,
 * because agents may not change it. A person who edits a view does not change these fields.
 */
function isSpokenThrough({ spec, status }: ClusterAdvertisement, account: AccountView | undefined): boolean {
  const advertisement = account?.advertisement;
  const shown = stampOrNone(status?.accepted);
  // A new ledger does not know the cluster: the view is the only record of earlier advertisements.
  const heard = advertisement === undefined ? shown : ledgerStamp(advertisement);
  if (heard === undefined) return false;
  const said = stampOf(spec);
  const known = [heard, shown];
  if (known.some((stamp) => isSameStamp(said, stamp))) return false;
  const isStranger = said.instance !== undefined && known.every((stamp) => stamp?.instance !== said.instance);
  return isStranger || isLater(said, heard);
}

function isLater(a: Stamp, b: Stamp): boolean {
  return a.statedAt !== undefined && b.statedAt !== undefined && a.statedAt > b.statedAt;
}

/** True if the ledger received a newer advertisement than this object's last answer: the cluster uses HTTP now. */
function isHeardElsewhere(
  { spec, status }: ClusterAdvertisement,
  advertisement: Advertisement,
  receivedAt: Instant,
): boolean {
  const { accepted, refused } = status ?? {};
  const said = stampOf(spec);
  const isAnswered = [accepted, refused].some((answer) => isSameStamp(said, stampOrNone(answer)));
  // The advertisement in the object is not answered yet and may be the newest.
  if (!isAnswered) return false;
  const heard = ledgerStamp(advertisement);
  if (isSameStamp(heard, said) || isSameStamp(heard, stampOrNone(accepted))) return false;
  return receivedAt > (accepted === undefined ? 0 : (parseTime(accepted.at) ?? 0));
}

type Answer = NonNullable<ClusterAdvertisement["status"]>["accepted" | "refused"];

function stampOrNone(answer: Answer): Stamp | undefined {
  return answer === undefined ? undefined : stampOf(answer);
}
