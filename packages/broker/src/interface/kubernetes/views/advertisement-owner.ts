import { type ClusterAdvertisement, KUBE_LABEL, parseTime } from "@resource-broker/contract";
import type { AccountView } from "@resource-broker/domain";
import { isSameStamp, ledgerStamp, type Stamp, stampOf } from "./stamp.ts";

/**
 * Whoever spoke last for a cluster owns its ClusterAdvertisement: the broker, which then shows what it heard over HTTP (a
 * view), or the cluster's own agent, which writes there.
 */
export type Owner =
  | "broker"
  | "agent"
  /** The broker's so far, but an agent has just spoken through it: the label comes off. */
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
  return account !== undefined && isHeardElsewhere({ object, account, objects }) ? "broker" : "agent";
}

/**
 * Older agents read an object and put it back whole, the label included. What they write is newer than anything the
 * ledger has heard; a person who edits a view leaves its timestamp alone.
 */
function isSpokenThrough({ spec, status }: ClusterAdvertisement, account: AccountView | undefined): boolean {
  const said = stampOf(spec);
  const heard = account?.advertisement?.statedAt;
  if (said.statedAt === undefined || heard === undefined) return false;
  return said.statedAt > heard && !isSameStamp(said, stampOrNone(status?.accepted));
}

/** The ledger has heard the cluster since this object was last answered: so it speaks HTTP now. */
function isHeardElsewhere({ object, account, objects }: Omit<Claim, "isTorn" | "account"> & Heard): boolean {
  const { advertisement, receivedAt } = account;
  if (advertisement === undefined) return false;
  const { accepted, refused } = object.status ?? {};
  const said = stampOf(object.spec);
  const isAnswered = [accepted, refused].some((answer) => isSameStamp(said, stampOrNone(answer)));
  // An agent's word that waits for its answer: it may be the newest.
  if (objects && !isAnswered) return false;
  const heard = ledgerStamp(advertisement);
  if (isSameStamp(heard, said) || isSameStamp(heard, stampOrNone(accepted))) return false;
  return receivedAt > (accepted === undefined ? 0 : (parseTime(accepted.at) ?? 0));
}

interface Heard {
  readonly account: AccountView;
}

type Answer = NonNullable<ClusterAdvertisement["status"]>["accepted" | "refused"];

function stampOrNone(answer: Answer): Stamp | undefined {
  return answer === undefined ? undefined : stampOf(answer);
}
