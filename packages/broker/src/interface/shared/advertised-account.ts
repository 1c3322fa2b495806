import { formatTime } from "@resource-broker/base";
import {
  type AccountView,
  type Advertisement,
  type Instant,
  type Policy,
  REGION_LABEL,
} from "@resource-broker/domain";
import type { Engine } from "../../engine/engine.ts";

/** Time and policy for judging staleness. */
export interface StalenessMoment {
  readonly now: Instant;
  readonly policy: Pick<Policy, "stalenessMs">;
}

/** Also for judging prices. */
export interface Moment extends StalenessMoment {
  readonly policy: Policy;
}

/** An account of a cluster that has advertised. */
export interface AdvertisedAccount extends AccountView {
  readonly advertisement: Advertisement;
}

export function hasAdvertised(account: AccountView | undefined): account is AdvertisedAccount {
  return account?.advertisement !== undefined;
}

type Received = Pick<AccountView, "receivedAt">;

export function isStale({ receivedAt }: Received, { now, policy }: StalenessMoment): boolean {
  return now - receivedAt > policy.stalenessMs;
}

export function staleMessage({ receivedAt }: Received): string {
  return `No advertisement since ${formatTime(receivedAt)}: the cluster gets no new reservations.`;
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
