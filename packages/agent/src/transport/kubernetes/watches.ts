import { Fault } from "@resource-broker/base";
import type { ReservationDTO } from "@resource-broker/contract";
import {
  type ClusterAdvertisement,
  clusterAdvertisementName,
  type Reservation,
} from "@resource-broker/contract/crd";
import type { ReflectorDeps, ReflectorHealth } from "@resource-broker/kube";
import type { Role } from "../broker-communicator.ts";
import { type ApiCalls, apiServerFault } from "./api-calls.ts";
import { type BrokerHealth, createBrokerHealth } from "./broker-health.ts";
import { createInstructionStream, type InstructionStream } from "./instruction-stream.ts";
import { CLUSTER_ADVERTISEMENTS, type ObjectScope, RESERVATIONS } from "./manifests.ts";
import { type ObjectWatch, objectWatch } from "./object-watch.ts";
import { createProviderWatches, riskWatch } from "./provider-watches.ts";
import type { LedgerReservation } from "./read-reservation.ts";
import { createReservationIndex, labelSelectorOf, type ReservationIndex } from "./reservation-index.ts";

/** Ends of a watch that lose no events for the reader. */
const HARMLESS: ReadonlySet<string> = new Set(["silent", "gone"]);

/** The longest wait for an answer of the broker. */
const READY_MS = 10_000;

export interface WatchesDeps extends ReflectorDeps {
  readonly calls: ApiCalls;
  readonly onStreamOpen: () => void;
}

/**
 * All watches on the broker's cluster: four, independent of the number of calls and readers, and one for each
 * provider of a reservation.
 */
export interface Watches {
  readonly brokerHealth: BrokerHealth;
  readonly stream: InstructionStream;
  readonly watchOf: (role: Role) => ObjectWatch<Reservation>;
  readonly own: ObjectWatch<ClusterAdvertisement>;
  readonly nameOf: (id: string) => string | undefined;
  /** The live reservations that this cluster provides, as far as known. */
  readonly instructions: () => ReservationDTO[];
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

interface RoleWatch {
  readonly index: ReservationIndex;
  readonly watch: ObjectWatch<Reservation>;
}

export function createWatches(place: ObjectScope, deps: WatchesDeps): Watches {
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
      .filter(({ ledgerId }) => ledgerId === undefined || ledgerId === brokerHealth.ledgerId())
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
    watchOf: (role) => roleWatches[role].watch,
    own,
    nameOf: (id) => roleWatches.requester.index.nameOf(id) ?? roleWatches.provider.index.nameOf(id),
    instructions,
    start: () => {
      brokerHealth.start();
      // A watch that fails to list logs it, and callers that wait get the error.
      for (const { start } of [own, roleWatches.requester.watch, roleWatches.provider.watch])
        void start().catch(nothing);
    },
    stop: async () => {
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

function nothing(): void {
  return undefined;
}
