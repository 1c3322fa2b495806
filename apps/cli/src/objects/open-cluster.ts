import { type Clock, Fault, type FaultCode, type Log } from "@resource-broker/base";
import { createKubeClient, type KubeClient, type KubeConfig, loadKubeConfig } from "@resource-broker/kube";
import { systemClock } from "@resource-broker/runtime";
import { CommandError, type Exit } from "../cli/exit-code.ts";
import type { Host } from "../cli/host.ts";

export interface ClusterOptions {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly namespace?: string | undefined;
}

/** A cluster, reached as kubectl would reach it. */
export interface OpenCluster {
  readonly config: KubeConfig;
  readonly client: KubeClient;
  readonly clock: Clock;
  /** The one that was named, else that of the context. */
  readonly namespace: string;
}

const silent = (): void => undefined;

/** Whatever goes wrong comes back as a fault: there is nothing to log. */
export const NO_LOG: Log = { info: silent, warn: silent, error: silent };

const EXITS: Partial<Record<FaultCode, Exit>> = {
  forbidden: "auth",
  unauthenticated: "auth",
  conflict: "conflict",
  "already-exists": "conflict",
};

export async function openCluster(
  { kubeconfig, context, namespace }: ClusterOptions,
  host: Host,
): Promise<OpenCluster> {
  const { env, isInteractive = false, now } = host;
  const config = await loadKubeConfig({
    env,
    ...(kubeconfig === undefined ? {} : { files: [kubeconfig] }),
    ...(context === undefined ? {} : { context }),
  });
  const clock = systemClock(now);
  const client = createKubeClient(config, {
    clock,
    log: NO_LOG,
    env,
    isInteractive,
    userAgent: "brokerctl",
  });
  return { config, client, clock, namespace: namespace ?? config.namespace };
}

/** Lets the command work with a cluster, and says what went wrong in words and exit status. */
export async function withCluster(
  options: ClusterOptions,
  host: Host,
  work: (cluster: OpenCluster) => Promise<void>,
): Promise<void> {
  try {
    const cluster = await openCluster(options, host);
    try {
      await work(cluster);
    } finally {
      cluster.client.close();
    }
  } catch (error) {
    throw asCommandError(error);
  }
}

function asCommandError(error: unknown): unknown {
  if (!(error instanceof Fault)) return error;
  return new CommandError(EXITS[error.code] ?? "error", error.message, { cause: error });
}
