import {
  type AgentProcess,
  type BenchRow,
  type BrokerProcess,
  type FaultyProxy,
  startAgent,
  startBroker,
  startFaultyProxy,
  type TestCertificates,
} from "@resource-broker/testkit";
import type { ClusterSize } from "./cluster/messages.ts";
import { type BenchCluster, startCluster } from "./cluster/start-cluster.ts";

/** What every section is given. */
export interface BenchEnvironment {
  readonly certificates: TestCertificates;
  /** The bundles. */
  readonly agentProgram: string;
  readonly brokerProgram: string;
  /** How Node is called for the agent. */
  readonly nodeFlags: readonly string[];
  /** How long memory may settle before it is read. */
  readonly settleMs: number;
  /** How long CPU and traffic of an agent at rest are measured. */
  readonly restMs: number;
  readonly isQuick: boolean;
  /** Says what is going on. */
  readonly print: (line: string) => void;
}

export interface Section {
  readonly name: string;
  readonly run: (environment: BenchEnvironment) => Promise<BenchRow[]>;
}

/** One agent between a cluster and a broker, each in a process of its own. */
export interface BenchSetup {
  readonly cluster: BenchCluster;
  readonly broker: BrokerProcess;
  /** Between agent and broker. */
  readonly proxy: FaultyProxy;
  readonly agent: AgentProcess;
  readonly clusterId: string;
}

const CLUSTER_ID = "bench";

/**
 * Ends everything afterwards, whatever happened. The agent has just been started: a section waits for it in its own way,
 * since an agent that is asked every few milliseconds whether it is ready has that work as well.
 */
export async function withSetup<T>(
  environment: BenchEnvironment,
  size: ClusterSize,
  use: (setup: BenchSetup) => Promise<T>,
): Promise<T> {
  const { certificates, print } = environment;
  const cleanups: (() => Promise<unknown>)[] = [];
  try {
    print(`a cluster of ${size.nodes} nodes and ${size.pods} pods`);
    const cluster = await startCluster(size);
    cleanups.push(cluster.stop);
    const broker = await startBroker({ certificates, program: environment.brokerProgram });
    cleanups.push(broker.dispose);
    const proxy = await startFaultyProxy(broker);
    cleanups.push(proxy.close);
    const agent = await startAgent({
      clusterId: CLUSTER_ID,
      broker: proxy,
      certificates,
      kubeconfig: cluster.kubeconfig,
      program: environment.agentProgram,
      nodeFlags: environment.nodeFlags,
      readyWithinMs: 120_000,
      waits: false,
    });
    cleanups.push(agent.dispose);
    return await use({ cluster, broker, proxy, agent, clusterId: CLUSTER_ID });
  } finally {
    for (const end of cleanups.reverse()) await end();
  }
}

export function pidOf({ pid }: AgentProcess): number {
  if (pid === undefined) throw new Error("the agent has ended");
  return pid;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** `187 (171–240) ms`. */
export function spread(values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return `${median(values).toFixed(0)} (${low.toFixed(0)}–${high.toFixed(0)}) ms`;
}

export const mb = (value: number): string => `${value.toFixed(1)} MB`;

export const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;
