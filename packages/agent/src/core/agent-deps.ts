import type { KubeClient, ReflectorDeps } from "@resource-broker/kube";
import type { Clock, Log } from "@resource-broker/runtime";
import type { DataPlane } from "../data-plane/data-plane.ts";
import type { RecordEvent } from "../events/tell.ts";
import type { PriceSource } from "../price/price-source.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";
import type { AgentObserver } from "./agent-observer.ts";

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

/** For everything that lists and watches. */
export function followDeps({ client, clock, random, log, observer }: AgentDeps): ReflectorDeps {
  return { client, clock, random, log, observer: { onRestart: observer.watchRestarted } };
}
