import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "@resource-broker/base";
import type { PolicyDTO } from "@resource-broker/contract/testing";
import type { JsonObject } from "@resource-broker/kube-sim";
import { type AgentProcess, startAgent } from "../agent/agent-process.ts";
import { type BrokerProcess, startBroker } from "../broker/broker-process.ts";
import { type PeerCertificates, testCertificates } from "../certificates/test-certificates.ts";
import { startGuardian } from "../process/guardian.ts";
import { type FaultyProxy, startFaultyProxy } from "../proxy/faulty-proxy.ts";
import { type ClusterPlan, plannedObjects } from "./cluster-plan.ts";
import { type ControlPlanes, simulatedControlPlanes } from "./control-planes.ts";
import { type InProcessAgent, startInProcessAgent } from "./in-process-agent.ts";
import { hubDefinitions } from "./kinds.ts";
import { type WorldCluster, worldCluster } from "./world-cluster.ts";

/** The programs start often: their compiled code is cached. */
const NODE_FLAGS = ["--import", new URL("../process/compile-cache.ts", import.meta.url).href];

export interface WorldOptions {
  readonly clusters: readonly ClusterPlan[];
  /** Absent: kube-sim. */
  readonly controlPlanes?: ControlPlanes;
  /** Absent: new test certificates. */
  readonly certificates?: PeerCertificates;
  /** The folder for all files; it is kept. Absent: a temporary folder, which is removed at the end. */
  readonly directory?: string;
  /** Name of the broker's own cluster, where it also serves objects. Absent: the broker serves HTTP only. */
  readonly hub?: string;
  /** The broker's policy. Absent: the built-in one, unless a flag names another. */
  readonly policy?: PolicyDTO;
  /** Further flags of the broker; ports, folders and its cluster are set already. */
  readonly brokerFlags?: readonly string[];
  /** Where the broker's API listens. Absent: on a free port. */
  readonly brokerPort?: number;
}

/** A broker, clusters and one agent per cluster, as real processes on this machine. */
export interface World {
  readonly directory: string;
  readonly certificates: PeerCertificates;
  readonly broker: BrokerProcess;
  readonly clusters: readonly WorldCluster[];
  readonly cluster: (name: string) => WorldCluster;
  readonly agent: (name: string) => AgentProcess;
  readonly proxy: (name: string) => FaultyProxy;
  /** Starts the agent of a cluster that was planned without one; does not wait until it is ready. */
  readonly launchAgent: (name: string) => Promise<AgentProcess>;
  /** An agent in this process, for a cluster without one. */
  readonly startInProcess: (
    name: string,
    options?: { readonly clock?: Clock; readonly flags?: readonly string[] },
  ) => Promise<InProcessAgent>;
  /** Stops everything, also after a failed start. */
  readonly dispose: () => Promise<void>;
}

export async function startWorld(options: WorldOptions): Promise<World> {
  const { controlPlanes = simulatedControlPlanes() } = options;
  const certificates = options.certificates ?? (await testCertificates());
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "resource-broker-")));
  const guardian = startGuardian(options.directory === undefined ? directory : "");
  const cleanups: (() => Promise<unknown>)[] = [];
  const clusters = new Map<string, WorldCluster>();
  const agentKubeconfigs = new Map<string, string>();
  const agents = new Map<string, AgentProcess>();
  const proxies = new Map<string, FaultyProxy>();

  const dispose = async (): Promise<void> => {
    // In reverse order: agents stop before the servers that they use. After a failure the others are stopped all the same.
    for (const end of cleanups.splice(0).reverse()) await end().catch(() => undefined);
    await guardian.finish();
  };

  const startControlPlane = async (
    plan: ClusterPlan,
    more: readonly JsonObject[] = [],
  ): Promise<WorldCluster> => {
    const objects = [...plannedObjects(plan), ...more];
    const { kubeconfig, agentKubeconfig = kubeconfig } = await controlPlanes.start(plan.name, objects);
    agentKubeconfigs.set(plan.name, agentKubeconfig);
    const folder = join(directory, plan.name);
    await mkdir(folder, { recursive: true });
    // The agent's own kubeconfig is `kubeconfig` in the same folder.
    const kubeconfigFile = join(folder, agentKubeconfig === kubeconfig ? "kubeconfig" : "admin.kubeconfig");
    const cluster = await worldCluster({ name: plan.name, kubeconfigFile, kubeconfig });
    clusters.set(plan.name, cluster);
    cleanups.push(async () => cluster.client.close());
    return cluster;
  };

  const hubFlags = async (): Promise<string[]> => {
    if (options.hub === undefined) return [];
    const { kubeconfigFile } = await startControlPlane({ name: options.hub, nodes: [] }, hubDefinitions());
    return ["--broker-interface=http,kubernetes", `--kubeconfig=${kubeconfigFile}`];
  };

  const startBrokerProcess = async (): Promise<BrokerProcess> => {
    const folder = join(directory, "broker");
    await mkdir(folder, { recursive: true });
    const flags = [...(await hubFlags()), ...(options.brokerFlags ?? [])];
    const broker = await startBroker({
      certificates,
      directory: folder,
      nodeFlags: NODE_FLAGS,
      flags,
      ...(options.brokerPort === undefined ? {} : { port: options.brokerPort }),
      ...(options.policy === undefined ? {} : { policy: options.policy }),
    });
    cleanups.push(broker.dispose);
    return broker;
  };

  const startAgentOf = async (plan: ClusterPlan, broker: BrokerProcess): Promise<void> => {
    const proxy = plan.isBehindProxy === true ? await startFaultyProxy(broker) : undefined;
    if (proxy !== undefined) {
      proxies.set(plan.name, proxy);
      cleanups.push(proxy.close);
    }
    if (plan.hasAgent === false) return;
    await startAgentProcess(plan, { broker: proxy ?? broker, waits: true });
  };

  const startAgentProcess = async (
    plan: ClusterPlan,
    { broker, waits }: { readonly broker: { readonly port: number }; readonly waits: boolean },
  ): Promise<AgentProcess> => {
    const agent = await startAgent({
      clusterId: plan.name,
      broker,
      waits,
      certificates,
      kubeconfig: partOf(agentKubeconfigs, plan.name),
      directory: join(directory, plan.name),
      nodeFlags: NODE_FLAGS,
      flags: [...transportFlags(plan), ...(plan.flags ?? [])],
    });
    agents.set(plan.name, agent);
    cleanups.push(agent.dispose);
    return agent;
  };

  const transportFlags = ({ transport }: ClusterPlan): string[] =>
    transport === "kubernetes"
      ? [
          "--broker-transport=kubernetes",
          `--broker-kubeconfig=${partOf(clusters, options.hub ?? "hub").kubeconfigFile}`,
          "--broker-url=",
          "--broker-cert-path=",
        ]
      : [];

  try {
    cleanups.push(controlPlanes.stop);
    const [broker] = await waitForAll([
      startBrokerProcess(),
      ...options.clusters.map((plan) => startControlPlane(plan)),
    ] as const);
    await waitForAll(options.clusters.map((plan) => startAgentOf(plan, broker)));
    return {
      directory,
      certificates,
      broker,
      clusters: [...clusters.values()],
      cluster: (name) => partOf(clusters, name),
      agent: (name) => partOf(agents, name),
      proxy: (name) => partOf(proxies, name),
      launchAgent: (name) => {
        const plan = partOf(new Map(options.clusters.map((each) => [each.name, each])), name);
        return startAgentProcess(plan, { broker: proxies.get(name) ?? broker, waits: false });
      },
      startInProcess: async (name, more = {}) => {
        const { port } = proxies.get(name) ?? broker;
        const kubeconfigFile = join(directory, name, "kubeconfig");
        await writeFile(kubeconfigFile, partOf(agentKubeconfigs, name), { mode: 0o600 });
        const brokerUrl = `https://127.0.0.1:${port}`;
        const agent = await startInProcessAgent({
          clusterId: name,
          brokerUrl,
          certificates,
          kubeconfigFile,
          ...more,
        });
        cleanups.push(agent.stop);
        return agent;
      },
      dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Waits for all, also after a failure, so that `dispose` stops everything that was started. */
async function waitForAll<T extends readonly Promise<unknown>[]>(
  parts: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(parts);
  return Promise.all(parts);
}

function partOf<T>(parts: ReadonlyMap<string, T>, name: string): T {
  const part = parts.get(name);
  if (part === undefined) throw new Error(`there is no such part of ${name} in this world`);
  return part;
}
