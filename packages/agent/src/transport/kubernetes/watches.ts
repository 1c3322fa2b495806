import { Fault, truncate } from "@resource-broker/base";
import {
  type CapacityEventDTO,
  LIMIT,
  type ReservationDTO,
  type WaitingRequestDTO,
} from "@resource-broker/contract";
import {
  type ClusterAdvertisement,
  clusterAdvertisementName,
  type Reservation,
} from "@resource-broker/contract/crd";
import {
  type Reflector,
  type ReflectorDeps,
  type ReflectorHealth,
  reflector,
  type Sink,
} from "@resource-broker/kube";
import type { Role } from "../broker-communicator.ts";
import { type ApiCalls, apiServerFault } from "./api-calls.ts";
import { createBrokerHealth } from "./broker-health.ts";
import { createInstructionStream } from "./instruction-stream.ts";
import { CLUSTER_ADVERTISEMENTS, type ObjectScope, RESERVATIONS } from "./manifests.ts";
import { type ObjectWatch, objectWatch } from "./object-watch.ts";
import type { LedgerReservation } from "./read-reservation.ts";
import { createReservationIndex, labelSelectorOf } from "./reservation-index.ts";

/** Ends of a watch that lose no events for the reader. */
const HARMLESS: ReadonlySet<string> = new Set(["silent", "gone"]);

/** The longest wait for an answer of the broker. */
const READY_MS = 10_000;

interface WatchesDeps extends ReflectorDeps {
  readonly calls: ApiCalls;
  readonly onStreamOpen: () => void;
}

interface RoleWatch {
  readonly index: ReturnType<typeof createReservationIndex>;
  readonly watch: ObjectWatch<Reservation>;
}

/**
 * All watches on the broker's cluster: four, independent of the number of calls and readers, and one for each
 * provider of a reservation.
 */
export function createWatches(place: ObjectScope, deps: WatchesDeps) {
  const { client, clock, log, calls } = deps;
  const { namespace, clusterId } = place;
  const brokerHealth = createBrokerHealth(place, {
    ...deps,
    onFreed: () => stream.capacity({ change: "freed" }),
  });

  const roleWatch = (role: Role): RoleWatch => {
    const index = createReservationIndex(role, {
      log,
      onUpdate: (found) => {
        stream.update(role, found);
        if (role === "requester")
          providerWatches.set(new Set(requested().map(({ targetClusterID }) => targetClusterID)));
      },
      onWaiting: (found) => stream.waiting(found),
      onRelist: () => stream.reset("the watch history of the API server is gone"),
    });
    const onRestart = (resource: string, reason: string): void => {
      deps.observer?.onRestart?.(resource, reason);
      if (!HARMLESS.has(reason)) stream.broke(reason);
    };
    const watch = objectWatch(
      { resource: RESERVATIONS, namespace, labelSelector: labelSelectorOf(role, clusterId) },
      { ...deps, brokerHealth, sink: index.sink, observer: { ...deps.observer, onRestart } },
    );
    return { index, watch };
  };
  const roleWatches: Readonly<Record<Role, RoleWatch>> = {
    requester: roleWatch("requester"),
    provider: roleWatch("provider"),
  };
  const live = (role: Role): Iterable<LedgerReservation> => roleWatches[role].index.live();

  const own = objectWatch(
    {
      resource: CLUSTER_ADVERTISEMENTS,
      namespace,
      fieldSelector: `metadata.name=${clusterAdvertisementName(clusterId)}`,
    },
    {
      ...deps,
      brokerHealth,
      sink: riskWatch({
        reservationIds: () => instructions().map(({ id }) => id),
        onRisk: (risk) => stream.capacity(risk),
      }),
    },
  );
  const providerWatches = createProviderWatches(place, {
    ...deps,
    reservationsFrom: (provider) =>
      requested()
        .filter(({ targetClusterID }) => targetClusterID === provider)
        .map(({ id }) => id),
    onRisk: (risk) => stream.capacity(risk),
  });

  const known = (role: Role): ReservationDTO[] =>
    Array.from(live(role))
      .filter(brokerHealth.isOfLedger)
      .map(({ reservation }) => reservation);
  const instructions = (): ReservationDTO[] => known("provider");
  const requested = (): ReservationDTO[] => known("requester");

  const health = (): ReflectorHealth => {
    const all = Object.values(roleWatches).map(({ watch }) => watch.health());
    return all.find(({ state }) => state === "failing") ?? all[0] ?? { state: "starting" };
  };

  const ready = async (signal: AbortSignal): Promise<void> => {
    const lists = Promise.all(Object.values(roleWatches).map(({ watch }) => watch.start()));
    await unlessAborted(lists, signal, () => {
      const now = health();
      return now.state === "failing"
        ? apiServerFault(client.server, now.fault)
        : new Fault(
            "unreachable",
            `the Reservations in ${namespace} of ${client.server} were not listed in time`,
          );
    });
    await brokerHealth.whenAlive(signal);
  };

  const stream = createInstructionStream({
    server: client.server,
    brokerHealth,
    clock,
    ready: (signal) => calls.within(READY_MS, (limit) => ready(AbortSignal.any([signal, limit]))),
    live,
    health,
    onOpen: deps.onStreamOpen,
  });

  return {
    brokerHealth,
    stream,
    watchOf: (role: Role): ObjectWatch<Reservation> => roleWatches[role].watch,
    own,
    /** The object name of a live reservation, if it is not the ID. */
    nameOf: (id: string): string | undefined =>
      roleWatches.requester.index.nameOf(id) ?? roleWatches.provider.index.nameOf(id),
    /** The live reservations that this cluster provides, as far as known. */
    instructions,
    /** The requests of this cluster that wait, when all objects were listed. */
    pending: async (signal: AbortSignal): Promise<readonly WaitingRequestDTO[]> => {
      await ready(signal);
      return Array.from(roleWatches.requester.index.waiting())
        .filter(brokerHealth.isOfLedger)
        .map(({ waiting }) => waiting);
    },
    start: (): void => {
      brokerHealth.start();
      // A watch that fails to list logs it, and callers that wait get the error.
      for (const { start } of [own, roleWatches.requester.watch, roleWatches.provider.watch])
        void start().catch(() => undefined);
    },
    stop: async (): Promise<void> => {
      stream.close();
      const all = [
        brokerHealth,
        own,
        providerWatches,
        roleWatches.requester.watch,
        roleWatches.provider.watch,
      ];
      await Promise.all(all.map(({ stop }) => stop()));
    },
  };
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal, why: () => Fault): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(why());
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

const OVERCOMMITTED = "Overcommitted";

interface RiskDeps {
  /** The reservations between that cluster and this one. */
  readonly reservationIds: () => readonly string[];
  readonly onRisk: (capacity: CapacityEventDTO) => void;
}

/** Reports when a cluster becomes overcommitted. The state at the first event is not reported. */
function riskWatch({ reservationIds, onRisk }: RiskDeps): Sink<ClusterAdvertisement> {
  let before: string | undefined;
  return {
    beginList: () => undefined,
    endList: () => undefined,
    remove: () => undefined,
    put: ({ spec, status }) => {
      const condition = status?.conditions?.find(({ type }) => type === OVERCOMMITTED);
      if (condition === undefined) return;
      const isAtRisk = condition.status === "True";
      const now = isAtRisk ? condition.message : "";
      const isNews = before !== undefined && isAtRisk && now !== before;
      before = now;
      if (!isNews) return;
      const message = truncate(`${spec.clusterID}: ${now}`, LIMIT.reasonLength);
      onRisk({ change: "at-risk", reservationIDs: reservationIds().slice(0, LIMIT.capacityIds), message });
    },
  };
}

/** Each is a separate watch: with more providers, only the first ones are watched. */
const MAX_PROVIDER_WATCHES = 16;

interface ProviderWatchesDeps extends ReflectorDeps, Pick<RiskDeps, "onRisk"> {
  readonly reservationsFrom: (clusterId: string) => readonly string[];
}

/** Watches the advertisements of the providers of this cluster's reservations, to report risks. */
function createProviderWatches({ namespace }: ObjectScope, deps: ProviderWatchesDeps) {
  const followers = new Map<string, Reflector>();
  const ending = new Set<Promise<void>>();
  let isStopped = false;

  const begin = (clusterId: string): void => {
    const fieldSelector = `metadata.name=${clusterAdvertisementName(clusterId)}`;
    const sink = riskWatch({ reservationIds: () => deps.reservationsFrom(clusterId), onRisk: deps.onRisk });
    const follower = reflector({ resource: CLUSTER_ADVERTISEMENTS, namespace, fieldSelector }, sink, deps);
    followers.set(clusterId, follower);
    void follower.start().catch(() => undefined);
  };

  const end = (clusterId: string, follower: Reflector): void => {
    followers.delete(clusterId);
    const stopped = follower.stop().finally(() => ending.delete(stopped));
    ending.add(stopped);
  };

  return {
    /** Replaces the set of watched clusters. */
    set: (clusterIds: ReadonlySet<string>): void => {
      if (isStopped) return;
      for (const [clusterId, follower] of followers) if (!clusterIds.has(clusterId)) end(clusterId, follower);
      for (const clusterId of clusterIds) {
        if (followers.size < MAX_PROVIDER_WATCHES && !followers.has(clusterId)) begin(clusterId);
      }
    },
    stop: async (): Promise<void> => {
      isStopped = true;
      for (const [clusterId, follower] of followers) end(clusterId, follower);
      await Promise.all(ending);
    },
  };
}
