import type { ResourceVector } from "@resource-broker/base";
import type { CostModel } from "../cost/cost-model.ts";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";

/** The capacity that a cluster advertises. Soft state: the newest one counts. It never states what is reserved. */
export interface Advertisement {
  readonly clusterId: ClusterId;
  readonly clusterName?: string;
  readonly capacity: ResourceVector;
  readonly allocatable: ResourceVector;
  /** Requests of the cluster's own pods; pods that run for a reservation are in `usage` instead. */
  readonly allocated: ResourceVector;
  /** Real consumption where metrics are served; shown, never decided on. */
  readonly used?: ResourceVector;
  /** One entry for each reservation that the cluster's agent holds capacity for. */
  readonly usage: readonly ReservationUsage[];
  readonly nodeShapes: readonly NodeShape[];
  readonly gpuModels: readonly GpuModel[];
  readonly labels: Readonly<Record<string, string>>;
  readonly cost?: CostModel;
  readonly endpointUrl?: string;
  readonly liqo?: LiqoIdentity;
  /** Protocol version of the agent. Agents of version 1 never activate, acknowledge or release. */
  readonly protocol: number;
  /** The agent process, and its count of posts: an older post never replaces a newer one. */
  readonly instance?: string;
  readonly sequence?: number;
  /** Time of the agent's clock. Only used to show clock skew. */
  readonly statedAt?: Instant;
}

/**
 * The most reservations one provider has at a time: its agent lists each of them in `usage`, and no list on the wire
 * is longer. The broker grants none beyond it.
 */
export const MAX_RESERVATIONS_PER_PROVIDER = 1000;

/** The most that a policy may allow one requester: no agent reads more of its own. */
export const MAX_RESERVATIONS_PER_REQUESTER = 100_000;

/** The capacity that an agent holds for one reservation, and the current requests of its guest pods. */
export interface ReservationUsage {
  readonly reservationId: ReservationId;
  readonly granted: ResourceVector;
  readonly used: ResourceVector;
}

/** The most node shapes an advertisement carries. */
export const MAX_NODE_SHAPES = 16;
/** The most GPU models an advertisement carries. */
export const MAX_GPU_MODELS = 16;

/** `count` nodes that each have at least `resources` allocatable. */
export interface NodeShape {
  readonly count: number;
  readonly resources: ResourceVector;
}

export interface GpuModel {
  readonly model: string;
  readonly count: number;
  readonly memoryBytes?: number;
}

interface LiqoIdentity {
  readonly clusterId: string;
  readonly version: string;
}

/** Protocols by what came with them. A peer has a feature if it sends at least that number; none or 1: an agent of the Go thesis. */
/** Activate, acknowledge, release, usage. */
export const CALLS_PROTOCOL = 2;
/** Waiting requests and notices. */
export const MARKET_PROTOCOL = 3;

/** The label that carries a cluster's region, as Kubernetes nodes do. */
export const REGION_LABEL = "topology.kubernetes.io/region";

/** False when the terms differ, so that a request may fit now though nothing has become free: prices, labels, shapes of nodes. */
export function offersAlike(before: Advertisement | undefined, after: Advertisement): boolean {
  return before !== undefined && JSON.stringify(termsOf(before)) === JSON.stringify(termsOf(after));
}

function termsOf({ cost, labels, nodeShapes }: Advertisement) {
  return [cost, labels, nodeShapes];
}
