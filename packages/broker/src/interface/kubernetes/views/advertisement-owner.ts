import { type ClusterAdvertisement, KUBE_LABEL, parseTime } from "@resource-broker/contract";
import type { AccountView, Advertisement, Instant } from "@resource-broker/domain";
import { isSameStamp, ledgerStamp, type Stamp, stampOf } from "./stamp.ts";

/**
 * Whoever spoke last for a cluster owns its ClusterAdvertisement: the broker, which then shows what it heard over HTTP (a
 * view), or the cluster's own agent, which writes there.
 */
export type Owner =
  | "broker"
  | "agent"
  /** The broker's so far, but an agent has just written over it: the broker takes the label off. */
  | "handed-over";

export interface Claim {
  readonly object: ClusterAdvertisement;
  readonly account: AccountView | undefined;
  /** The kubernetes interface is on: agents' objects are listened to. */
  readonly objects: boolean;
  /** This process saw how somebody took the label off and left the rest as it was. */
  readonly isTorn: boolean;
}

export function ownerOf({ object, account, objects, isTorn }: Claim): Owner {
  const isLabelled = object.metadata.labels?.[KUBE_LABEL.view] === "true";
  if (isLabelled) return objects && isSpokenThrough(object, account) ? "handed-over" : "broker";
  if (isTorn) return "broker";
  if (account?.advertisement === undefined) return "agent";
  // Where nobody listens to agents' objects, all there is to show is what came over HTTP.
  return !objects || isHeardElsewhere(object, account.advertisement, account.receivedAt) ? "broker" : "agent";
}

/**
 * An agent has written over a view: it is another process than any that was heard, or it says something newer. The label it
 * leaves as it is: agents may not touch it, and older ones put back whole what they read. A person who edits a view
 * leaves these fields alone.
 */
function isSpokenThrough({ spec, status }: ClusterAdvertisement, account: AccountView | undefined): boolean {
  const advertisement = account?.advertisement;
  const shown = stampOrNone(status?.accepted);
  // A ledger that does not know the cluster is a new one: the view is all that is left of what was heard before.
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

/** The ledger has heard the cluster since this object was last answered: so it speaks HTTP now. */
function isHeardElsewhere(
  { spec, status }: ClusterAdvertisement,
  advertisement: Advertisement,
  receivedAt: Instant,
): boolean {
  const { accepted, refused } = status ?? {};
  const said = stampOf(spec);
  const isAnswered = [accepted, refused].some((answer) => isSameStamp(said, stampOrNone(answer)));
  // An agent's word that waits for its answer: it may be the newest.
  if (!isAnswered) return false;
  const heard = ledgerStamp(advertisement);
  if (isSameStamp(heard, said) || isSameStamp(heard, stampOrNone(accepted))) return false;
  return receivedAt > (accepted === undefined ? 0 : (parseTime(accepted.at) ?? 0));
}

type Answer = NonNullable<ClusterAdvertisement["status"]>["accepted" | "refused"];

function stampOrNone(answer: Answer): Stamp | undefined {
  return answer === undefined ? undefined : stampOf(answer);
}
