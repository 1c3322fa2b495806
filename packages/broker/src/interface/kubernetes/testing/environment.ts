import { randomBytes } from "node:crypto";
import type { Log } from "@resource-broker/base";
import { DEFAULT_SLICE } from "@resource-broker/contract";
import {
  type ClusterAdvertisement,
  clusterAdvertisementKind,
  customResourceDefinition,
  KINDS,
  type Reservation,
} from "@resource-broker/contract/crd";
import { DEFAULT_POLICY, type Policy } from "@resource-broker/domain";
import { EVENTS, eventRecorder, type KubeClient } from "@resource-broker/kube";
import { createKubeSim, type JsonObject, type SimCluster } from "@resource-broker/kube-sim";
import { systemClock } from "@resource-broker/runtime";
import {
  type FakeClock,
  fakeClock,
  kubeClientFor,
  type MemoryDisk,
  memoryDisk,
  memoryStore,
  until,
} from "@resource-broker/testkit";
import { createEngine } from "../../../engine/create-engine.ts";
import type { Engine } from "../../../engine/engine.ts";
import { NO_OBSERVER } from "../../../engine/engine-observer.ts";
import { importReservations } from "../../../import-reservations.ts";
import { createKubernetesInterface } from "../kubernetes-interface.ts";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "../objects/object-informers.ts";
import type { KubernetesDeps, KubernetesOptions } from "../ports.ts";

const random = (): number => randomBytes(4).readUInt32BE() / 2 ** 32;

export const NAMESPACE = "broker";
/** Fake time that passes between two looks. */
const STEP_MS = 25;

export interface BrokerParts {
  readonly disk?: MemoryDisk;
  readonly policy?: Partial<Policy>;
  readonly options?: Partial<KubernetesOptions>;
  /** What the broker's calls go through. */
  readonly client?: KubeClient;
  readonly wrapEngine?: (engine: Engine) => Engine;
  readonly isLeading?: () => boolean;
  readonly sliceDefaults?: KubernetesDeps["sliceDefaults"];
  /** True: a new ledger takes over what an older broker has left. */
  readonly imports?: boolean;
}

export interface TestBroker {
  readonly engine: Engine;
  readonly disk: MemoryDisk;
  readonly stop: () => Promise<void>;
}

/** One simulated cluster, its users, and brokers that come and go. */
export interface TestEnvironment {
  readonly cluster: SimCluster;
  /** Of a user with full rights. */
  readonly client: KubeClient;
  readonly time: FakeClock;
  readonly logged: readonly string[];
  readonly startBroker: (parts?: BrokerParts) => Promise<TestBroker>;
  /** Lets time pass in small steps until there is something to see. */
  readonly until: <T>(what: string, look: () => Promise<T | undefined>) => Promise<T>;
  readonly reservation: (name: string, isAsWanted?: (object: Reservation) => boolean) => Promise<Reservation>;
  readonly advertisement: (
    clusterId: string,
    isAsWanted?: (object: ClusterAdvertisement) => boolean,
  ) => Promise<ClusterAdvertisement>;
  readonly gone: (name: string) => Promise<void>;
  /** The reasons of the Events about an object. */
  readonly eventsOf: (name: string) => Promise<readonly string[]>;
  /** What the Events of one reason say about an object. */
  readonly messagesOf: (name: string, reason: string) => Promise<readonly string[]>;
  readonly stop: () => Promise<void>;
}

/** JSON all the way: what is undefined is left out. */
function plain(object: object): JsonObject {
  return JSON.parse(JSON.stringify(object)) as JsonObject;
}

export function definitions(): JsonObject[] {
  return KINDS.filter(({ group }) => group === clusterAdvertisementKind.group).map((kind) =>
    plain(customResourceDefinition(kind)),
  );
}

export function namespaceObject(): JsonObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
}

export async function openEnvironment(): Promise<TestEnvironment> {
  const clock = systemClock(() => Math.round(performance.timeOrigin + performance.now()));
  const sim = createKubeSim({ clock, randomBytes });
  const cluster = await sim.addCluster({ name: "hub", objects: [...definitions(), namespaceObject()] });
  const client = kubeClientFor(cluster.kubeconfig);
  const time = fakeClock();
  const logged: string[] = [];
  const note = (level: string) => (fields: object, message: string) =>
    void logged.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log: Log = { info: note("info"), warn: note("warn"), error: note("error") };
  const cleanups: (() => Promise<void>)[] = [];

  const startBroker = async (parts: BrokerParts = {}): Promise<TestBroker> => {
    const { disk = memoryDisk(), options = {}, wrapEngine = (engine) => engine } = parts;
    const store = memoryStore(disk);
    const engine = wrapEngine(
      createEngine(
        { policy: { ...DEFAULT_POLICY, ...parts.policy }, maxWaiting: 10_000 },
        { store, clock: time, observer: NO_OBSERVER, defer: setImmediate, onFatal: () => undefined },
      ),
    );
    await engine.start();
    const own = parts.client ?? kubeClientFor(cluster.kubeconfig);
    if (parts.imports === true) {
      await importReservations({ engine, open: async () => ({ client: own, namespace: NAMESPACE }), log });
    }
    const recorder = eventRecorder(
      { component: "resource-broker", instance: "replica-1" },
      { client: own, clock: time, random, log },
    );
    const served = createKubernetesInterface(
      { namespace: NAMESPACE, replica: "replica-1", views: false, objects: true, ...options },
      {
        engine,
        store,
        client: own,
        clock: time,
        random,
        randomBytes,
        log,
        recorder,
        isLeading: parts.isLeading ?? (() => true),
        sliceDefaults: parts.sliceDefaults ?? (() => DEFAULT_SLICE),
        onPolicy: (loaded) => engine.setPolicy(loaded?.policy ?? { ...DEFAULT_POLICY, ...parts.policy }),
      },
    );
    const starting = served.start().catch(() => undefined);
    let isStopped = false;
    const stop = async (): Promise<void> => {
      if (isStopped) return;
      isStopped = true;
      await served.stop();
      await starting;
      await recorder.stop();
      own.close();
      await engine.stop();
    };
    cleanups.push(stop);
    return { engine, disk, stop };
  };

  const untilSeen: TestEnvironment["until"] = (what, look) =>
    until(what, async () => {
      await time.advance(STEP_MS);
      return look();
    });

  const wanted = async <T>(
    object: T | undefined,
    isAsWanted: (object: T) => boolean,
  ): Promise<T | undefined> => {
    if (object === undefined || isAsWanted(object)) return Promise.resolve(object);
    throw new Error(`it is ${JSON.stringify(object)}`);
  };

  const eventsAbout = async (name: string) => {
    const events: { readonly reason: string; readonly message: string }[] = [];
    await client.list(EVENTS, { namespace: NAMESPACE }, ({ involvedObject, reason = "", message = "" }) => {
      if (involvedObject.name === name) events.push({ reason, message });
    });
    return events;
  };

  return {
    cluster,
    client,
    time,
    logged,
    startBroker,
    until: untilSeen,
    reservation: (name, isAsWanted = () => true) =>
      untilSeen(`Reservation ${name} is as wanted`, async () =>
        wanted(await client.find(RESERVATIONS, { name, namespace: NAMESPACE }), isAsWanted),
      ),
    advertisement: (clusterId, isAsWanted = () => true) =>
      untilSeen(`ClusterAdvertisement of ${clusterId} is as wanted`, async () =>
        wanted(
          await client.find(CLUSTER_ADVERTISEMENTS, { name: `${clusterId}-adv`, namespace: NAMESPACE }),
          isAsWanted,
        ),
      ),
    gone: async (name) => {
      await untilSeen(`Reservation ${name} is gone`, async () => {
        const found = await client.find(RESERVATIONS, { name, namespace: NAMESPACE });
        if (found === undefined) return true;
        throw new Error(`it is ${JSON.stringify(found)}`);
      });
    },
    eventsOf: async (name) => (await eventsAbout(name)).map(({ reason }) => reason),
    messagesOf: async (name, wantedReason) =>
      (await eventsAbout(name)).flatMap(({ reason, message }) => (reason === wantedReason ? [message] : [])),
    stop: async () => {
      for (const end of cleanups.splice(0)) await end();
      client.close();
      await sim.stop();
    },
  };
}
