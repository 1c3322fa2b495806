import type { FollowDeps, KubeClient } from "@resource-broker/kube";
import type { Log, MachineTime } from "@resource-broker/runtime";
import type { DataPlane } from "../data-plane/data-plane.ts";
import type { Tell } from "../events/tell.ts";
import type { PriceSource } from "../price/price-source.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";
import type { AgentObserver } from "./agent-observer.ts";

/** What all parts of the agent share. */
export interface AgentDeps {
  readonly client: KubeClient;
  readonly communicator: BrokerCommunicator;
  readonly prices: PriceSource;
  readonly dataPlane: DataPlane;
  readonly machine: MachineTime;
  /** In [0, 1). */
  readonly random: () => number;
  /** A name that is unique to this process. */
  readonly newInstance: () => string;
  readonly tell: Tell;
  readonly observer: AgentObserver;
  readonly log: Log;
}

/** For everything that lists and watches. */
export function followDeps({ client, machine, random, log, observer }: AgentDeps): FollowDeps {
  return { client, machine, random, log, observer: { onRestart: observer.watchRestarted } };
}
