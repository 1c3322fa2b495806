import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { brokerDefinitions } from "@resource-broker/broker/testing";
import { NAMESPACES } from "@resource-broker/kube";
import {
  kubeClientFor,
  type SeededRandom,
  startControlPlane,
  startFaultyProxy,
} from "@resource-broker/testkit";
import type { ServerCommand } from "./api-server-worker.ts";
import { snapshotFromKubernetes } from "./read-snapshot.ts";
import type { SharedLedger } from "./shared-ledger.ts";

/** How long an API server is away, or silent, at most. */
const LONGEST_SILENCE_MS = 1500;

/** An API server that keeps ledgers, simulated or real. */
export interface ApiServer {
  readonly kubeconfig: string;
  readonly port: number;
  readonly strike: (random: SeededRandom) => Promise<string>;
  readonly dispose: () => Promise<void>;
}

export async function simulatedApiServer(): Promise<ApiServer> {
  const worker = new Worker(new URL("./api-server-worker.ts", import.meta.url));
  const answer = async (): Promise<unknown> => {
    const messages: unknown[] = await once(worker, "message");
    return messages[0];
  };
  const order = async (what: ServerCommand): Promise<void> => {
    worker.postMessage(what);
    await answer();
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the worker is our own
  const server = (await answer()) as Pick<ApiServer, "kubeconfig" | "port">;
  return {
    ...server,
    strike: async (random) => {
      const isGone = random.chance(0.5);
      const awayMs = random.below(LONGEST_SILENCE_MS);
      await order(isGone ? "down" : "pause");
      await sleep(awayMs);
      await order(isGone ? "up" : "resume");
      return `API server ${isGone ? "away" : "silent"} for ${awayMs} ms`;
    },
    dispose: async () => void (await worker.terminate()),
  };
}

export async function realApiServer(): Promise<ApiServer> {
  const plane = await startControlPlane({ name: "chaos" });
  await plane.seed(brokerDefinitions());
  return {
    kubeconfig: plane.kubeconfig,
    port: plane.port,
    strike: async (random) => {
      const program = random.chance(0.5) ? "etcd" : "apiServer";
      const pausedMs = random.below(LONGEST_SILENCE_MS);
      if (random.chance(0.5)) {
        await plane[program].restart();
        return `${program} killed and started again`;
      }
      plane[program].pause();
      await sleep(pausedMs);
      plane[program].resume();
      return `${program} paused for ${pausedMs} ms`;
    },
    dispose: plane.dispose,
  };
}

/** A ledger in a namespace of its own; each replica has its own proxy to the API server, and a kubeconfig that takes it. */
export async function kubernetesLedger(
  server: ApiServer,
  { namespace, replicas }: { readonly namespace: string; readonly replicas: number },
): Promise<SharedLedger> {
  const client = kubeClientFor(server.kubeconfig);
  await client.create(NAMESPACES, { metadata: { name: namespace } });
  client.close();
  const directory = await mkdtemp(join(tmpdir(), "chaos-"));
  const proxies = await Promise.all(
    Array.from({ length: replicas }, () => startFaultyProxy({ port: server.port })),
  );
  const endpoints = await Promise.all(
    proxies.map(async (proxy) => {
      const file = join(directory, `${proxy.port}.kubeconfig`);
      const text = server.kubeconfig.replaceAll(`127.0.0.1:${server.port}`, `127.0.0.1:${proxy.port}`);
      await writeFile(file, text, { mode: 0o600 });
      const flags = [`--kubeconfig=${file}`, `--http-namespace=${namespace}`];
      return { store: "kubernetes", flags, proxy };
    }),
  );
  return {
    endpoints,
    serverKind: "api-server",
    strikeServer: server.strike,
    snapshot: () => snapshotFromKubernetes(server.kubeconfig, namespace),
    dispose: async () => {
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await rm(directory, { recursive: true });
    },
  };
}
