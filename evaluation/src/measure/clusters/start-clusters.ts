import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const PROGRAM = join(import.meta.dirname, "clusters-process.ts");
/** A hundred and fifty thousand pods are a gigabyte of JSON objects. */
const NODE_FLAGS = ["--max-old-space-size=6000"];

/** Simulated clusters (kube-sim) in one process of their own. They begin with the kinds of ours and nothing else happens in them. */
export interface SimulatedClusters {
  /** Resolves with the text of a kubeconfig with full rights. */
  readonly add: (shape: ClusterShape) => Promise<string>;
  readonly remove: (name: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** It runs on the cores of the load, as everything does that is not told otherwise. */
export function startClusters(): SimulatedClusters {
  const child = fork(PROGRAM, { execArgv: NODE_FLAGS, stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const ended = once(child, "exit");
  const waiting = new Map<
    string,
    { resolve: (answer: ClustersReply) => void; reject: (error: Error) => void }
  >();
  child.on("message", (answer: ClustersReply) => {
    const waiter = waiting.get(answer.name);
    waiting.delete(answer.name);
    if (answer.kind === "failed") waiter?.reject(new Error(`cluster ${answer.name}: ${answer.problem}`));
    else waiter?.resolve(answer);
  });
  child.once("exit", () => {
    for (const { reject } of waiting.values()) reject(new Error("the simulated clusters have ended"));
    waiting.clear();
  });
  const ask = (order: ClustersCommand, name: string): Promise<ClustersReply> =>
    new Promise((resolve, reject) => {
      if (waiting.has(name)) return reject(new Error(`cluster ${name} is being made or ended already`));
      waiting.set(name, { resolve, reject });
      child.send(order);
    });
  return {
    add: async (shape) => {
      const answer = await ask({ kind: "add", shape }, shape.name);
      return answer.kind === "added" ? answer.kubeconfig : "";
    },
    remove: async (name) => void (await ask({ kind: "remove", name }, name)),
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill();
      await ended;
    },
  };
}

/** A simulated cluster: how large it is. */
export interface ClusterShape {
  readonly name: string;
  readonly nodes: number;
  readonly pods: number;
  /** Of each node; absent: 64 CPU, 256Gi. */
  readonly node?: { readonly cpu: string; readonly memory: string };
}

/** What is told to the process with the clusters. */
export type ClustersCommand =
  | { readonly kind: "add"; readonly shape: ClusterShape }
  | { readonly kind: "remove"; readonly name: string };

/** What it answers. */
export type ClustersReply =
  | { readonly kind: "added"; readonly name: string; readonly kubeconfig: string }
  | { readonly kind: "removed"; readonly name: string }
  | { readonly kind: "failed"; readonly name: string; readonly problem: string };
