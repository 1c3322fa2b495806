import { countedResources } from "@resource-broker/accounting";
import type { Clock } from "@resource-broker/base";
import { type ResourceRequest, resourceRequestKind } from "@resource-broker/contract/crd";
import { customResource, type KubeClient, NODES, PODS } from "@resource-broker/kube";
import { type FakeClock, fakeClock } from "@resource-broker/testkit";
import { type AgentCore, agentCore } from "../core/agent-core.ts";
import type { DataPlane } from "../data-plane/data-plane.ts";
import { dataPlaneOff } from "../data-plane/data-plane-off.ts";
import type { ObjectEvent } from "../events/record-event.ts";
import { PROVIDER_INSTRUCTIONS, RESERVATION_INSTRUCTIONS } from "../manifests/labels.ts";
import { fixedPrices } from "../price/price-source.ts";
import type { BrokerTransport } from "../transport/broker-communicator.ts";
import { noBroker } from "../transport/no-broker.ts";
import { brokerCommunicator } from "../transport/broker-communicator.ts";
import { type FakeBroker, fakeBroker } from "./fake-broker.ts";
import { fakeCluster } from "./fake-cluster.ts";
import type { FakeKinds, FakeObject } from "./fake-objects.ts";
import { recordedLog } from "./recorded-log.ts";

export const REQUESTS = customResource(resourceRequestKind);

export type TestCluster = ReturnType<typeof testCluster>;

export interface TestFleet {
  readonly time: FakeClock;
  readonly broker: FakeBroker;
  readonly rome: TestCluster;
  readonly paris: TestCluster;
  readonly berlin: TestCluster;
  /** These agents run, and have advertised. Absent: rome's and paris'. */
  readonly begin: (...clusters: readonly TestCluster[]) => Promise<void>;
}

export interface TestFleetOptions {
  readonly kinds?: FakeKinds;
  /** CPUs of paris and berlin, which lend; rome has but one. */
  readonly cpu?: string;
  readonly random?: () => number;
  /** Rome's. Absent: none. */
  readonly dataPlane?: DataPlane;
  /** Paris'. Absent: none. */
  readonly lenderPlane?: (client: KubeClient, clock: Clock) => DataPlane;
  /** rome runs with `--broker-transport=none`. */
  readonly isRomeAlone?: boolean;
}

/** Clusters and a broker in memory, in the time of a test. rome is short of everything, the others lend. */
export function testFleet({
  kinds,
  cpu = "16",
  random = () => 0.5,
  dataPlane = dataPlaneOff(),
  lenderPlane = dataPlaneOff,
  isRomeAlone = false,
}: TestFleetOptions = {}): TestFleet {
  const time = fakeClock(Date.UTC(2026, 6, 1, 10));
  const broker = fakeBroker(time);
  const of = (id: string, size: string, plane: TestClusterDeps["dataPlane"] = dataPlaneOff) =>
    testCluster(id, {
      time,
      broker,
      kinds,
      cpu: size,
      random,
      dataPlane: plane,
      withoutBroker: isRomeAlone && id === "rome",
    });
  const [rome, paris, berlin] = [
    of("rome", "1", () => dataPlane),
    of("paris", cpu, lenderPlane),
    of("berlin", cpu),
  ];
  return {
    time,
    broker,
    rome,
    paris,
    berlin,
    begin: async (...clusters) => {
      const started = Promise.all(
        (clusters.length === 0 ? [rome, paris] : clusters).map(({ start }) => start()),
      );
      await time.advance(1000);
      await started;
    },
  };
}

interface TestClusterDeps {
  readonly time: FakeClock;
  readonly broker: FakeBroker;
  readonly kinds: FakeKinds | undefined;
  readonly cpu: string;
  readonly random: () => number;
  readonly dataPlane: (client: KubeClient, clock: Clock) => DataPlane;
  readonly withoutBroker: boolean;
}

/** One cluster, its API server, and the agent that runs there or does not. */
function testCluster(
  id: string,
  { time, broker, kinds, cpu, random, dataPlane, withoutBroker }: TestClusterDeps,
) {
  const server = fakeCluster(time, kinds);
  const events: ObjectEvent[] = [];
  const logLines: string[] = [];
  let clockErrorMs = 0;
  let starts = 0;
  let running: { core: AgentCore; kill: () => void } | undefined;
  const log = recordedLog(logLines);
  server.objects.create(NODES, nodeOf(`${id}-1`, cpu));

  const start = async (): Promise<void> => {
    starts++;
    const process = killable({ ...time, wallMs: () => time.wallMs() + clockErrorMs });
    const client = process.client(server.client);
    const core = agentCore(
      {
        clusterId: id,
        clusterName: undefined,
        endpointUrl: `https://${id}:6443`,
        labels: {},
        toleratedTaints: [],
        resources: countedResources({ gpuResources: ["nvidia.com/gpu"], extendedResources: [] }),
        withoutBroker,
        intervalMs: 30_000,
        pollIntervalMs: 5000,
        advertisement: { name: "cluster-advertisement", namespace: "default" },
        instructionNamespace: "default",
      },
      {
        client,
        communicator: brokerCommunicator(
          process.communicator(withoutBroker ? noBroker() : broker.connect(id)),
        ),
        prices: fixedPrices(undefined),
        dataPlane: dataPlane(client, process.clock),
        clock: process.clock,
        random,
        newInstance: () => `${id}-${starts}-${broker.calls.length}`,
        recordEvent: (event) => void events.push(event),
        observer: {
          published: () => undefined,
          advertised: () => undefined,
          reserved: () => undefined,
          held: () => undefined,
          watchRestarted: () => undefined,
          reconcileFailed: () => undefined,
        },
        log,
      },
    );
    running = { core, kill: process.end };
    await core.start();
  };

  return {
    ...server,
    id,
    /** What people were told under `kubectl describe`. */
    events,
    logLines,
    core: (): AgentCore => {
      if (running === undefined) throw new Error(`no agent runs in ${id}`);
      return running.core;
    },
    isRunning: (): boolean => running !== undefined,
    /** Resolves when the agent has taken up its work; needs time to pass. */
    start,
    stop: async (): Promise<void> => {
      await running?.core.stop();
      running = undefined;
    },
    /** As `kill -9`: nothing that it was doing goes on, and no answer reaches it any more. */
    kill: (): void => {
      running?.kill();
      running = undefined;
    },
    /** What its own wall clock is off. */
    setClockError: (ms: number): void => {
      clockErrorMs = ms;
    },
    createRequest: (name: string, spec: Partial<ResourceRequest["spec"]> = {}): ResourceRequest =>
      server.put(REQUESTS, {
        apiVersion: "rear.fluidos.eu/v1alpha1",
        kind: "ResourceRequest",
        metadata: { name, namespace: "default" },
        spec: { requestedCPU: "4", requestedMemory: "8Gi", ...spec },
      }),
    request: (name: string): ResourceRequest | undefined =>
      server.find(REQUESTS, { name, namespace: "default" }),
    deleteRequest: (name: string): void => server.remove(REQUESTS, { name, namespace: "default" }),
    /** Names of the instructions that are there. */
    reservationInstructions: (): string[] =>
      server.all(RESERVATION_INSTRUCTIONS).map(({ metadata }) => metadata.name),
    providerInstructions: (): string[] =>
      server.all(PROVIDER_INSTRUCTIONS).map(({ spec }) => spec.reservationName),
    /** A pod of its own that takes up room. */
    occupy: (name: string, size: string): void =>
      void server.objects.create(PODS, podOf(name, `${id}-1`, size)),
    vacate: (name: string): void => server.remove(PODS, { name, namespace: "default" }),
  };
}

/** What an agent stands on, until it is killed. */
function killable(clock: Clock) {
  const cancels = new Set<() => void>();
  let isDead = false;
  const never = new Promise<never>(() => undefined);
  const unlessKilled = async <T>(call: () => Promise<T>): Promise<T> => {
    if (isDead) return await never;
    try {
      const result = await call();
      return isDead ? await never : result;
    } catch (error) {
      if (isDead) return await never;
      throw error;
    }
  };
  const streamUnlessKilled = async function* <T>(events: () => AsyncIterable<T>): AsyncGenerator<T> {
    if (isDead) await never;
    for await (const event of events()) {
      if (isDead) await never;
      yield event;
    }
  };
  const wrap = <T extends object>(whole: T, streams: readonly string[], plain: readonly string[]): T =>
    new Proxy(whole, {
      get: (target, name, receiver) => {
        const part: unknown = Reflect.get(target, name, receiver);
        if (typeof part !== "function" || plain.includes(String(name))) return part;
        const call = part as (...args: unknown[]) => never;
        return streams.includes(String(name))
          ? (...args: unknown[]) => streamUnlessKilled(() => call(...args))
          : (...args: unknown[]) => unlessKilled(() => call(...args));
      },
    });
  return {
    clock: {
      ...clock,
      after: (delayMs: number, action: () => void) => {
        if (isDead) return () => undefined;
        const cancel = clock.after(delayMs, () => {
          cancels.delete(cancel);
          action();
        });
        cancels.add(cancel);
        return cancel;
      },
    } satisfies Clock,
    client: (client: KubeClient) => wrap(client, ["watch"], ["server", "close"]),
    communicator: (communicator: BrokerTransport) =>
      wrap(communicator, ["watch"], ["identity", "onResponse", "close"]),
    end: () => {
      isDead = true;
      for (const cancel of cancels) cancel();
    },
  };
}

function nodeOf(name: string, cpu: string): FakeObject {
  const size = { cpu, memory: "64Gi", pods: "110" };
  const status = { capacity: size, allocatable: size, conditions: [{ type: "Ready", status: "True" }] };
  return { metadata: { name }, spec: {}, status };
}

function podOf(name: string, nodeName: string, cpu: string): FakeObject {
  const container = { name: "main", resources: { requests: { cpu } } };
  const spec = { nodeName, containers: [container] };
  return { metadata: { name, namespace: "default" }, spec, status: { phase: "Running" } };
}
