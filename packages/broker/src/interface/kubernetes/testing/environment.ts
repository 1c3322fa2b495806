import { randomBytes } from "node:crypto";
import { Fault, type Log } from "@resource-broker/base";
import { DEFAULT_SLICE } from "@resource-broker/contract";
import {
  type ClusterAdvertisement,
  clusterAdvertisementKind,
  customResourceDefinition,
  KINDS,
  type Reservation,
} from "@resource-broker/contract/crd";
import { type Advertisement, DEFAULT_POLICY, type Policy } from "@resource-broker/domain";
import { actor, cluster, request } from "@resource-broker/domain/testing";
import { EVENTS, eventRecorder, type KubeClient } from "@resource-broker/kube";
import { createKubeSim, type JsonObject } from "@resource-broker/kube-sim";
import { fakeClock, type MemoryDisk, memoryDisk, memoryStore, until } from "@resource-broker/testkit";
import { createEngine } from "../../../engine/create-engine.ts";
import type { Engine } from "../../../engine/engine.ts";
import { NO_OBSERVER } from "../../../engine/engine-observer.ts";
import { importReservations } from "../../../import-reservations.ts";
import { createKubernetesInterface } from "../kubernetes-interface.ts";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "../objects/object-informers.ts";
import type { KubernetesDeps, KubernetesOptions } from "../ports.ts";
import { type CallFault, type CallSeen, directClient } from "./direct-client.ts";
import { NAMESPACE, named, type Offered, publish } from "./samples.ts";

/** Events of one object are named by it. */
const random = (): number => randomBytes(4).readUInt32BE() / 2 ** 32;
/** Fake time that passes between two looks. */
const STEP_MS = 25;
const READS: readonly CallSeen["verb"][] = ["get", "list", "watch"];
const SHOWN: readonly string[] = [RESERVATIONS.plural, CLUSTER_ADVERTISEMENTS.plural];

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

export type TestEnvironment = Awaited<ReturnType<typeof openEnvironment>>;
export type TestBroker = Awaited<ReturnType<TestEnvironment["startBroker"]>>;

/** One simulated cluster on a clock of the test, its users, and brokers that come and go. */
export async function openEnvironment() {
  const time = fakeClock();
  const sim = createKubeSim({ clock: time, randomBytes });
  const objects = [...definitions(), namespaceObject()];
  const simCluster = await sim.addCluster({ name: "hub", behaves: false, objects });
  /** Of a user with full rights. */
  const client = directClient(simCluster.api, () => undefined);
  const logged: string[] = [];
  const note = (level: string) => (fields: object, message: string) =>
    void logged.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log: Log = { info: note("info"), warn: note("warn"), error: note("error") };
  const cleanups: (() => Promise<void>)[] = [];

  const startBroker = async (parts: BrokerParts = {}) => {
    const { disk = memoryDisk(), options = {}, wrapEngine = (engine) => engine } = parts;
    const policy = { ...DEFAULT_POLICY, ...parts.policy };
    const store = memoryStore(disk);
    let decisions = 0;
    const engine = wrapEngine(
      createEngine(
        { policy, maxWaiting: 10_000 },
        {
          store,
          clock: time,
          observer: NO_OBSERVER,
          defer: setImmediate,
          onFatal: () => undefined,
          newDecisionId: () => `dec-queue-${++decisions}`,
        },
      ),
    );
    await engine.start();
    /** To Reservations and ClusterAdvertisements. */
    const writes: (CallSeen & { readonly atMs: number })[] = [];
    const faults: CallFault[] = [];
    const interruptions: (() => Promise<unknown>)[] = [];
    let isDown = false;
    const hooked = directClient(simCluster.api, async (call) => {
      if (isDown) return { fault: new Fault("unreachable", "the server is away"), isDone: false };
      if (READS.includes(call.verb) || !SHOWN.includes(call.plural)) return undefined;
      writes.push({ ...call, atMs: time.monotonicMs() });
      await interruptions.shift()?.();
      return faults.shift();
    });
    const own = parts.client ?? hooked;
    if (parts.imports === true) {
      await importReservations({ engine, open: async () => ({ client: own, namespace: NAMESPACE }), log });
    }
    const deps = { client: own, clock: time, random, log };
    const recorder = eventRecorder({ component: "resource-broker", instance: "replica-1" }, deps);
    const served = createKubernetesInterface(
      { namespace: NAMESPACE, replica: "replica-1", views: false, objects: true, ...options },
      {
        ...deps,
        engine,
        store,
        randomBytes,
        recorder,
        isLeading: parts.isLeading ?? (() => true),
        sliceDefaults: parts.sliceDefaults ?? (() => DEFAULT_SLICE),
        onPolicy: (loaded) => engine.setPolicy(loaded?.policy ?? policy),
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
      await engine.stop();
    };
    cleanups.push(stop);
    return {
      engine,
      disk,
      writes,
      stop,
      /** The API server goes away; the returned function brings it back. */
      goDown: () => {
        isDown = true;
        hooked.cut();
        return () => {
          isDown = false;
        };
      },
      /** Somebody does this just before the next write arrives. */
      interrupt: (act: () => Promise<unknown>) => void interruptions.push(act),
      failNext: (...next: CallFault[]) => void faults.push(...next),
      advertise: (clusterId: string, more: Partial<Advertisement> = {}) =>
        engine.submit({
          kind: "advertise",
          advertisement: cluster(clusterId, { more: { statedAt: time.wallMs(), ...more } }),
        }),
      /** Over HTTP: no object asks for it. */
      reserve: (requester: string, id: string, more: { cpu?: number; durationMs?: number } = {}) => {
        const { cpu = 1, ...rest } = more;
        return engine.submit({
          kind: "reserve",
          requester,
          request: request({ cpu, memoryGi: 1 }, rest),
          reservationId: id,
          decisionId: `dec-${id}`,
        });
      },
      release: (requester: string, id: string) =>
        engine.submit({ kind: "release", by: actor(requester), id }),
    };
  };

  /** Lets time pass in small steps until there is something to see. */
  const untilSeen = <T>(what: string, look: () => Promise<T | undefined>): Promise<T> =>
    until(what, async () => {
      await time.advance(STEP_MS);
      return look();
    });
  const findReservation = (name: string) => client.find(RESERVATIONS, named(name));
  const findAdvertisement = (clusterId: string) =>
    client.find(CLUSTER_ADVERTISEMENTS, named(`${clusterId}-adv`));
  const wanted = <T>(object: T | undefined, isAsWanted: (object: T) => boolean): T | undefined => {
    if (object === undefined || isAsWanted(object)) return object;
    throw new Error(`it is ${JSON.stringify(object)}`);
  };
  const reservation = (name: string, isAsWanted: (object: Reservation) => boolean = () => true) =>
    untilSeen(`Reservation ${name}`, async () => wanted(await findReservation(name), isAsWanted));
  const advertisement = (
    clusterId: string,
    isAsWanted: (object: ClusterAdvertisement) => boolean = () => true,
  ) =>
    untilSeen(`the advertisement of ${clusterId}`, async () =>
      wanted(await findAdvertisement(clusterId), isAsWanted),
    );

  return {
    cluster: simCluster,
    client,
    time,
    logged,
    startBroker,
    until: untilSeen,
    findReservation,
    findAdvertisement,
    reservation,
    advertisement,
    create: (object: Reservation) => client.create(RESERVATIONS, object),
    remove: (name: string) => client.delete(RESERVATIONS, named(name)),
    inPhase: (name: string, phase: string) => reservation(name, ({ status }) => status?.phase === phase),
    gone: async (name: string) => {
      await untilSeen(`Reservation ${name} is gone`, async () =>
        (await findReservation(name)) === undefined ? true : undefined,
      );
    },
    /** Publishes as an agent does, and waits until the broker has taken it in. */
    lend: async (clusterId: string, offered: Offered = {}) => {
      await publish(client, clusterId, offered);
      await advertisement(clusterId, ({ status }) => status?.active === true);
    },
    /** Reasons and messages of the Events about an object. */
    eventsOf: async (name: string) => {
      const events: { readonly reason: string; readonly message: string }[] = [];
      await client.list(EVENTS, { namespace: NAMESPACE }, ({ involvedObject, reason = "", message = "" }) => {
        if (involvedObject.name === name) events.push({ reason, message });
      });
      return events;
    },
    stop: async () => {
      for (const end of cleanups.splice(0)) await end();
      await sim.stop();
    },
  };
}

/** An environment of a test's own: its brokers come, go and die as no other test could bear. */
export async function inOwnEnvironment(act: (env: TestEnvironment) => Promise<void>): Promise<void> {
  const env = await openEnvironment();
  try {
    await act(env);
  } finally {
    await env.stop();
  }
}
