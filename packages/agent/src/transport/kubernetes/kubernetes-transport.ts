import { type Clock, Fault, type FaultCode, type Log, toFault } from "@resource-broker/base";
import { responseListeners } from "@resource-broker/client";
import type { ReservationDTO, WaitingRequestDTO } from "@resource-broker/contract";
import { clusterAdvertisementName } from "@resource-broker/contract/crd";
import { isClusterId, isLive } from "@resource-broker/domain";
import { type KubeClient, SELF_SUBJECT_REVIEWS } from "@resource-broker/kube";
import { ignoring } from "../../faults.ts";
import { clusterIdByKubeconfig } from "../../identity/cluster-identity.ts";
import type { BrokerTransport, Role } from "../broker-communicator.ts";
import { adoption } from "./adoption.ts";
import { apiCalls, apiServerFault } from "./api-calls.ts";
import { CLUSTER_ADVERTISEMENTS, type ObjectScope } from "./manifests.ts";
import {
  type Answered,
  currentReservation,
  currentWaiting,
  type ObjectCalls,
  objectCalls,
} from "./object-calls.ts";
import { partyCalls } from "./party-calls.ts";
import { publishing } from "./publishing.ts";
import { rolesOf } from "./read-reservation.ts";
import { reserving } from "./reserving.ts";
import { createWatches } from "./watches.ts";

/** The longest wait for an answer of the broker. */
const ANSWER_MS = 10_000;
const INSTANCE_BYTES = 8;
/** Faults that come from the API server, not from the broker. */
const NOT_FROM_BROKER: ReadonlySet<FaultCode> = new Set([
  "unreachable",
  "unauthenticated",
  "conflict",
  "gone",
]);

export interface KubernetesTransportOptions {
  /** The broker's namespace. */
  readonly namespace: string;
  /** `--cluster-id`; "" where it was not given. */
  readonly clusterId: string;
  /** For a kubeconfig that was issued for no cluster, where `clusterId` is not given either. */
  readonly clusterIdByUid?: () => Promise<string>;
}

export interface KubernetesTransportDeps {
  /** Of the broker's cluster. Closed by the communicator. */
  readonly client: KubeClient;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly log: Log;
}

/**
 * The broker through objects in its own cluster. Rejects when this cluster's ID cannot be found: without
 * `clusterId` the API server is asked for the kubeconfig's account.
 */
export async function kubernetesTransport(
  { namespace, clusterId: flag, clusterIdByUid }: KubernetesTransportOptions,
  deps: KubernetesTransportDeps,
): Promise<BrokerTransport> {
  const issued = await issuedClusterId(deps.client, namespace).catch((error: unknown) => {
    const fault = toFault(error);
    // An unreachable broker's cluster must not stop an agent that knows its own ID.
    if (flag === "" || !fault.retry) throw apiServerFault(deps.client.server, fault);
    deps.log.warn({ error: fault.message }, "the cluster of the kubeconfig is not known yet");
    return undefined;
  });
  const clusterId = await clusterIdByKubeconfig({ flag, issued }, clusterIdByUid);
  return connect({ namespace, clusterId, issued }, deps);
}

interface Identity extends ObjectScope {
  /** Undefined: the kubeconfig names no cluster. */
  readonly issued: string | undefined;
}

function connect(identity: Identity, deps: KubernetesTransportDeps): BrokerTransport {
  const { client, clock, random, randomBytes, log } = deps;
  const { namespace, clusterId, issued } = identity;
  const scope: ObjectScope = { namespace, clusterId };
  const responses = responseListeners();
  const calls = apiCalls({ server: client.server, clock, random });
  const watches = createWatches(scope, {
    client,
    clock,
    random,
    log,
    calls,
    onStreamOpen: () => reportResponse(),
  });
  const { brokerHealth } = watches;

  const reportResponse = (): void =>
    responses.report(() => {
      const now = brokerHealth.now();
      const brokerTimeMs = now === undefined ? undefined : Math.trunc(now);
      return {
        ledgerId: brokerHealth.ledgerId(),
        brokerTimeMs,
        isCurrent: true,
        canQueue: brokerHealth.canQueue(),
      };
    });

  const answered: Answered = (work) =>
    calls.within(ANSWER_MS, async (signal) => {
      try {
        const answer = await work(signal);
        await brokerHealth.whenAlive(signal);
        reportResponse();
        return answer;
      } catch (error) {
        const fault = toFault(error);
        if (!NOT_FROM_BROKER.has(fault.code) && brokerHealth.isAlive()) reportResponse();
        throw fault;
      }
    });

  const objects = objectCalls({ scope, client, clock, log, calls, answered, ...watches });
  const instance = Buffer.from(randomBytes(INSTANCE_BYTES)).toString("hex");
  watches.start();

  return {
    identity: () => issued,
    ...publishing({ scope, client, answered, instance, ...watches }),
    ...reserving(objects),
    ...reads(objects),
    ...partyCalls(objects),
    ...adoption(objects),
    putStatement: noStatements,
    listStatements: noStatements,
    // From the watch: ended objects may hold a decision each, and this is asked for every minute.
    listWaiting: () => answered(watches.pending),
    watch: watches.stream.watch,
    ping: () =>
      answered(async (signal) => {
        await brokerHealth.whenAlive(signal);
        // The own advertisement is small, and only a known agent may read it.
        const name = { name: clusterAdvertisementName(clusterId), namespace };
        await calls.retry(signal, () => client.find(CLUSTER_ADVERTISEMENTS, name, { signal }));
      }),
    onResponse: responses.onResponse,
    close: async () => {
      calls.close();
      await watches.stop();
      client.close();
    },
  };
}

function noStatements(): Promise<never> {
  const remedy = "use --broker-transport=http for --liqo-mode=relay";
  return Promise.reject(
    new Fault("unsupported", `statements between clusters do not travel through objects: ${remedy}`),
  );
}

/**
 * The cluster that `brokerctl kubeconfig issue` made the kubeconfig for: its service account in the broker's
 * namespace has the cluster's name. Undefined: another kubeconfig, or an API server too old for the review.
 */
export async function issuedClusterId(
  client: Pick<KubeClient, "create">,
  namespace: string,
): Promise<string | undefined> {
  const review = await client.create(SELF_SUBJECT_REVIEWS, {}).catch(ignoring("not-found", "forbidden"));
  const prefix = `system:serviceaccount:${namespace}:agent-`;
  const username = review?.status?.userInfo?.username ?? "";
  const clusterId = username.startsWith(prefix) ? username.slice(prefix.length) : "";
  return isClusterId(clusterId) ? clusterId : undefined;
}

/** Reads from the API server. */
function reads(objects: ObjectCalls) {
  const { scope, brokerHealth } = objects;

  const listReservations = (role: Role): Promise<readonly ReservationDTO[]> =>
    objects.answered(async (signal) => {
      await brokerHealth.whenAlive(signal);
      return objects.list(role, signal, (object) => currentReservation(objects, object, role));
    });

  const getReservation = (id: string): Promise<ReservationDTO | undefined> =>
    objects.answered(async (signal) => {
      await brokerHealth.whenAlive(signal);
      const object = await objects.locate(id, signal);
      const [role] = object === undefined ? [] : rolesOf(object, scope.clusterId);
      return object && role && currentReservation(objects, object, role);
    });

  const getWaiting = (id: string): Promise<WaitingRequestDTO | undefined> =>
    objects.answered(async (signal) => {
      await brokerHealth.whenAlive(signal);
      const object = await objects.locate(id, signal);
      const isOwn = object !== undefined && rolesOf(object, scope.clusterId).includes("requester");
      return isOwn ? currentWaiting(objects, object) : undefined;
    });

  return {
    listReservations,
    getReservation,
    getWaiting,
    listInstructions: async (): Promise<readonly ReservationDTO[]> =>
      (await listReservations("provider")).filter(({ status }) => isLive(status.phase)),
  };
}
