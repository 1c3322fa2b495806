import {
  type AccountView,
  type Advertisement,
  type Instant,
  type Policy,
  REGION_LABEL,
} from "@resource-broker/domain";
import type { Engine } from "../../engine/engine.ts";

/** Time and policy for judging staleness and prices. */
export interface Moment {
  readonly now: Instant;
  readonly policy: Policy;
}

/** An account of a cluster that has advertised. */
export interface AdvertisedAccount extends AccountView {
  readonly advertisement: Advertisement;
}

export function hasAdvertised(account: AccountView | undefined): account is AdvertisedAccount {
  return account?.advertisement !== undefined;
}

export function isStale({ receivedAt }: Pick<AccountView, "receivedAt">, { now, policy }: Moment): boolean {
  return now - receivedAt > policy.stalenessMs;
}

export function regionOf({ labels }: Pick<Advertisement, "labels">): string {
  return Object.hasOwn(labels, REGION_LABEL) ? (labels[REGION_LABEL] ?? "") : "";
}

/** The identity of the cluster in the data plane; undefined: it has advertised none. */
export function dataPlaneId(advertisement: Advertisement | undefined): string | undefined {
  return advertisement?.liqo?.clusterId;
}

export function momentOf(engine: Pick<Engine, "now" | "policy">): Moment {
  return { now: engine.now(), policy: engine.policy };
}
