import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { OnCleanup } from "../async.ts";

const PROGRAM = join(import.meta.dirname, "clusters-process.ts");
/** A hundred and fifty thousand pods are a gigabyte of JSON objects. */
const NODE_FLAGS = ["--max-old-space-size=6000"];

/** A simulated cluster: how large it is. */
export interface ClusterShape {
  readonly name: string;
  readonly nodes: number;
  readonly pods: number;
}

/** Simulated clusters (kube-sim) in one process of their own. They begin with the kinds of ours and nothing else happens in them. */
export interface SimulatedClusters {
  /** Resolves with the text of a kubeconfig with full rights. */
  readonly add: (shape: ClusterShape) => Promise<string>;
  readonly remove: (name: string) => Promise<void>;
}

/** What is told to the process with the clusters: that there is such a cluster, or that it is gone. */
export type ClustersCommand =
  | { readonly kind: "add"; readonly name: string; readonly shape: ClusterShape }
  | { readonly kind: "remove"; readonly name: string };

/** What it answers. */
export interface ClustersReply {
  readonly name: string;
  /** Empty: the cluster is gone. */
  readonly kubeconfig: string;
  readonly problem?: string;
}

interface Waiter {
  readonly resolve: (kubeconfig: string) => void;
  readonly reject: (error: Error) => void;
}

/** It runs on the cores of the load, as everything does that is not told otherwise, until the context ends. */
export function startClusters({ onCleanup }: { readonly onCleanup: OnCleanup }): SimulatedClusters {
  const child = fork(PROGRAM, { execArgv: NODE_FLAGS, stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const ended = once(child, "exit");
  const waiting = new Map<string, Waiter>();
  child.on("message", ({ name, kubeconfig, problem }: ClustersReply) => {
    const waiter = waiting.get(name);
    waiting.delete(name);
    if (problem === undefined) waiter?.resolve(kubeconfig);
    else waiter?.reject(new Error(`cluster ${name}: ${problem}`));
  });
  child.once("exit", () => {
    for (const { reject } of waiting.values()) reject(new Error("the simulated clusters have ended"));
    waiting.clear();
  });
  onCleanup(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill();
    await ended;
  });
  const ask = (command: ClustersCommand): Promise<string> =>
    new Promise((resolve, reject) => {
      const { name } = command;
      if (waiting.has(name)) return reject(new Error(`cluster ${name} is being made or ended already`));
      waiting.set(name, { resolve, reject });
      child.send(command);
    });
  return {
    add: (shape) => ask({ kind: "add", name: shape.name, shape }),
    remove: async (name) => void (await ask({ kind: "remove", name })),
  };
}
