import { randomBytes } from "node:crypto";
import { Fault, type Log } from "@resource-broker/base";
import { DEFAULT_SLICE, type SliceDefaults } from "@resource-broker/contract";
import type { ClusterAdvertisement, Reservation } from "@resource-broker/contract/crd";
import type { Advertisement, Command, Reply } from "@resource-broker/domain";
import { actor, cluster, request } from "@resource-broker/domain/testing";
import type { EventInput } from "@resource-broker/kube";
import { createKubeSim, type SimCluster } from "@resource-broker/kube-sim";
import { type FakeClock, fakeClock, type MemoryDisk, memoryDisk } from "@resource-broker/testkit";
import { CLUSTER_ADVERTISEMENTS, objectInformers, RESERVATIONS } from "../../objects/object-informers.ts";
import { definitions, NAMESPACE, namespaceObject } from "../../testing/environment.ts";
import { startedEngine } from "../../testing/started-engine.ts";
import { createViews } from "../views.ts";
import { type CallFault, type CallSeen, directClient } from "./direct-client.ts";

const WRITES: readonly CallSeen["verb"][] = ["create", "apply", "patch", "update", "delete"];

export interface SimNamespace {
  readonly time: FakeClock;
  readonly sim: SimCluster;
  readonly end: () => Promise<void>;
}

/** A cluster with the CRDs and the namespace, on a clock of its own. */
export async function simPlace(): Promise<SimNamespace> {
  const time = fakeClock();
  const kubeSim = createKubeSim({ clock: time, randomBytes });
  const sim = await kubeSim.addCluster({
    name: "central",
    behaves: false,
    objects: [...definitions(), namespaceObject()],
  });
  return { time, sim, end: kubeSim.stop };
}

export interface WorldOptions {
  readonly objects?: boolean;
  readonly disk?: MemoryDisk;
  readonly sliceDefaults?: SliceDefaults;
}

/** A broker's engine, its views, and whoever else writes into the same namespace. */
export async function viewsEnvironment({ time, sim }: SimNamespace, options: WorldOptions = {}) {
  const { objects = false, disk = memoryDisk("led-1"), sliceDefaults = DEFAULT_SLICE } = options;
  const engine = await startedEngine(time, disk);
  const writes: (CallSeen & { readonly atMs: number })[] = [];
  const events: EventInput[] = [];
  const lines: string[] = [];
  const faults: CallFault[] = [];
  const interruptions: (() => Promise<unknown>)[] = [];
  let isDown = false;
  let isLeading = true;
  const client = directClient(sim.api, async (call) => {
    if (isDown) return { fault: new Fault("unreachable", "the server is away"), isDone: false };
    if (!WRITES.includes(call.verb)) return undefined;
    writes.push({ ...call, atMs: time.monotonicMs() });
    await interruptions.shift()?.();
    return faults.shift();
  });
  const log: Log = {
    info: (_, message) => void lines.push(`info ${message}`),
    warn: (_, message) => void lines.push(`warn ${message}`),
    error: (_, message) => void lines.push(`error ${message}`),
  };
  const follow = { client, clock: time, random: () => 0.5, log };
  const known = objectInformers(NAMESPACE, follow);
  const recorder = { record: (event: EventInput) => void events.push(event), stop: nothing };
  const views = createViews(
    { namespace: NAMESPACE, objects },
    {
      ...follow,
      engine,
      known,
      recorder,
      store: { findDecision: () => Promise.resolve(undefined) },
      isLeading: () => isLeading,
      sliceDefaults: () => sliceDefaults,
      onPolicy: () => undefined,
    },
  );
  const people = directClient(sim.api, () => undefined);
  const start = async (): Promise<void> => {
    await known.start();
    await views.start();
  };

  return {
    time,
    engine,
    disk,
    client,
    people,
    known,
    writes,
    events,
    lines,
    start,
    stop: async () => {
      await views.stop();
      await known.stop();
      people.close();
    },
    /** The API server goes away; the returned function brings it back. */
    goDown: () => {
      isDown = true;
      client.cut();
      return () => {
        isDown = false;
      };
    },
    /** Somebody does this just before the next write arrives. */
    interrupt: (act: () => Promise<unknown>) => void interruptions.push(act),
    failNext: (...next: CallFault[]) => void faults.push(...next),
    depose: () => {
      isLeading = false;
    },
    submit: (command: Command): Promise<Reply> => engine.submit(command),
    advertise: (clusterId: string, more: Partial<Advertisement> = {}) =>
      engine.submit({
        kind: "advertise",
        advertisement: cluster(clusterId, { more: { statedAt: time.wallMs(), ...more } }),
      }),
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
    release: (requester: string, id: string) => engine.submit({ kind: "release", by: actor(requester), id }),
    reservation: (name: string): Promise<Reservation | undefined> =>
      people.find(RESERVATIONS, { namespace: NAMESPACE, name }),
    advertisement: (clusterId: string): Promise<ClusterAdvertisement | undefined> =>
      people.find(CLUSTER_ADVERTISEMENTS, { namespace: NAMESPACE, name: `${clusterId}-adv` }),
  };
}

export type ViewsEnvironment = Awaited<ReturnType<typeof viewsEnvironment>>;

const nothing = (): Promise<void> => Promise.resolve();
