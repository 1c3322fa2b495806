import { cordonCall, uncordonCall } from "@resource-broker/client";
import type { AdvertisementDTO, ReservationRequestDTO } from "@resource-broker/contract";
import type { Context } from "../../evaluation-test.ts";
import type { Connection } from "../../measure/load/connection.ts";
import { advertise, advertisementFor, quantities, release, reserve } from "../subject/calls.ts";
import { connectAll, openOwn } from "../subject/subject.ts";
import {
  type Amounts,
  type Check,
  checkOf,
  decideByRules,
  type OracleCluster,
  type OracleInput,
  type OracleRequest,
  type OracleRules,
} from "./oracle.ts";

const REGION_LABEL = "topology.kubernetes.io/region";

/** A real broker and the oracle, which get the same input. */
export interface AccuracySetup {
  /** The clusters are as said from now on; those that are not named have nothing. Only what is new is advertised. */
  readonly set: (clusters: readonly OracleCluster[]) => Promise<void>;
  readonly ask: (request: OracleRequest) => Promise<Check>;
  /** Gives back the oldest loans until so many are left. */
  readonly releaseUntil: (left: number) => Promise<void>;
}

export interface AccuracySetupOptions {
  readonly providers: readonly string[];
  /** Clusters that only ask. */
  readonly requesters: readonly string[];
  readonly rules: OracleRules;
}

interface HeldReservation {
  readonly id: string;
  readonly requester: string;
  readonly provider: string;
  readonly amounts: Amounts;
}

export async function openSetup(context: Context, options: AccuracySetupOptions): Promise<AccuracySetup> {
  const { providers, requesters, rules } = options;
  const subject = await openOwn(context, { policy: policyOf(rules) });
  const identities = [...providers, ...requesters].map(subject.identity);
  const connections = await connectAll(context, { subject, identities });
  const connectionOf = (id: string): Connection => {
    const found = connections.find(({ clusterId }) => clusterId === id);
    if (found === undefined) throw new Error(`there is no cluster ${id}`);
    return found;
  };

  let clusters: readonly OracleCluster[] = [];
  const reservations: HeldReservation[] = [];
  const cordoned = new Set<string>();
  const advertised = new Map<string, OracleCluster>();
  const empty = new Map(providers.map((id) => [id, nothing(id)]));
  const oracleInput = (): OracleInput => {
    const reserved = new Map(
      providers.map((id) => [
        id,
        reservations.filter(({ provider }) => provider === id).map(({ amounts }) => amounts),
      ]),
    );
    return { clusters, reserved, rules };
  };

  return {
    set: async (wanted) => {
      clusters = providers.map((id) => wanted.find((each) => each.id === id) ?? empty.get(id) ?? nothing(id));
      const changed = clusters.filter((each) => advertised.get(each.id) !== each);
      await Promise.all(changed.map((each) => advertise(connectionOf(each.id), toAdvertisement(each))));
      for (const each of changed) advertised.set(each.id, each);
      for (const { id, isCordoned } of clusters) {
        if (isCordoned === cordoned.has(id)) continue;
        await subject.broker.api().request(isCordoned ? cordonCall(id) : uncordonCall(id));
        if (isCordoned) cordoned.add(id);
        else cordoned.delete(id);
      }
    },
    ask: async (request) => {
      const expected = decideByRules(oracleInput(), request);
      const answer = await reserve(connectionOf(request.requester), toRequest(request));
      const { id, provider } = answer;
      if (id !== undefined && provider !== undefined)
        reservations.push({ id, requester: request.requester, provider, amounts: request.wanted });
      return checkOf(expected, answer);
    },
    releaseUntil: async (left) => {
      for (const { id, requester } of reservations.splice(0, Math.max(0, reservations.length - left)))
        await release(connectionOf(requester), id);
    },
  };
}

function nothing(id: string): OracleCluster {
  const none = { cpuMillis: 0, memoryMi: 0, gpus: 0 };
  return { id, allocatable: none, allocated: none, labels: {}, nodeShapes: [], isCordoned: false };
}

function policyOf({ weights, currency, rates, denied }: OracleRules) {
  const clusters = Object.fromEntries(Object.entries(denied).map(([id, deny]) => [id, { deny: [...deny] }]));
  return { version: "evaluation", weights, prices: { currency, rates }, lending: { clusters } };
}

function toAdvertisement(cluster: OracleCluster): AdvertisementDTO {
  const { id, allocatable, allocated, price, region, labels, nodeShapes } = cluster;
  const all = withGpus(allocatable);
  const cost = price && {
    cpuCost: String(price.cpu),
    memoryCost: String(price.memoryGb),
    ...(price.gpu === undefined ? {} : { gpuCost: String(price.gpu) }),
    currency: price.currency,
  };
  return {
    ...advertisementFor(id, allocatable),
    resources: { capacity: all, allocatable: all, allocated: withGpus(allocated), available: all },
    labels: { ...labels, ...(region === undefined ? {} : { [REGION_LABEL]: region }) },
    nodeShapes: nodeShapes.map((shape) => ({ count: 1, ...withGpus(shape) })),
    ...(cost === undefined ? {} : { cost }),
  };
}

function toRequest({
  wanted,
  target,
  excluded,
  regions,
  labels,
  perNode,
}: OracleRequest): ReservationRequestDTO {
  const constraints = {
    ...(regions.length === 0 ? {} : { regions: [...regions] }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(excluded.length === 0 ? {} : { excludeClusters: [...excluded] }),
  };
  return {
    requestedResources: wanted.gpus === 0 ? quantities(wanted) : withGpus(wanted),
    ...(target === undefined ? {} : { targetClusterID: target }),
    ...(Object.keys(constraints).length === 0 ? {} : { constraints }),
    ...(perNode === undefined ? {} : { perNode: quantities(perNode) }),
  };
}

function withGpus(amounts: Amounts): { readonly cpu: string; readonly memory: string; readonly gpu: string } {
  return { ...quantities(amounts), gpu: String(amounts.gpus) };
}
