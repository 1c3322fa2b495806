import type { Clock, Fault, Log, ResourceVector } from "@resource-broker/base";
import type { KubeClient, ReflectorDeps } from "@resource-broker/kube";
import type { BrokerLink } from "../broker/broker-link.ts";
import type { DataPlane } from "../data-plane/data-plane.ts";
import type { RecordEvent } from "../events/record-event.ts";
import type { PriceSource } from "../price/price-source.ts";
import type { ReservationCache } from "../reservations/reservation-cache.ts";
import type { WaitingCache } from "../reservations/waiting-cache.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";
import type { AgentObjects } from "./agent-objects.ts";

/** What all parts of the agent share. */
export interface AgentDeps {
  readonly client: KubeClient;
  readonly communicator: BrokerCommunicator;
  readonly prices: PriceSource;
  readonly dataPlane: DataPlane;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** A name that is unique to this process. */
  readonly newInstance: () => string;
  readonly recordEvent: RecordEvent;
  readonly observer: AgentObserver;
  readonly log: Log;
}

/** What requester and provider share beside that. */
export interface AgentParts extends AgentDeps {
  readonly cache: ReservationCache;
  readonly waiting: WaitingCache;
  readonly link: BrokerLink;
  readonly objects: AgentObjects;
}

/** For everything that lists and watches. */
export function followDeps({ client, clock, random, log, observer }: AgentDeps): ReflectorDeps {
  return { client, clock, random, log, observer: { onRestart: observer.watchRestarted } };
}

/** What is reserved and available, as last advertised. */
export type AdvertisedResources = Readonly<Record<"reserved" | "available", ResourceVector>>;

/** Receives what happens in the agent, for metrics. Every call returns at once. */
export interface AgentObserver {
  readonly published: (result: "accepted" | Fault["code"], tookMs: number) => void;
  readonly advertised: (resources: AdvertisedResources) => void;
  /** From the first reconcile of a request to its grant. */
  readonly reserved: (tookMs: number) => void;
  /** From the grant at the broker to the ProviderInstruction in this cluster, by the broker's time. */
  readonly held: (delayMs: number) => void;
  readonly watchRestarted: (resource: string) => void;
  readonly reconcileFailed: (controller: string) => void;
}
