import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Context } from "../../evaluation-test.ts";

const PROGRAM = join(import.meta.dirname, "clusters-process.ts");
/** A hundred and fifty thousand pods are a gigabyte of JSON objects. */
const NODE_FLAGS = ["--max-old-space-size=6000"];

/** A simulated cluster: how large it is. */
export interface ClusterShape {
  readonly name: string;
  readonly nodes: number;
  readonly pods: number;
}

/** What the process with the clusters answers. */
export interface ClustersReply {
  readonly name: string;
  readonly kubeconfig: string;
  readonly problem?: string;
}

interface Waiter {
  readonly resolve: (kubeconfig: string) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Simulated clusters (kube-sim) in one process of their own, until the context ends. They begin with the kinds of ours and
 * nothing else happens in them. What comes back adds one, and resolves with the text of a kubeconfig with full rights. The
 * process runs on the cores of the load, as everything does that is not told otherwise.
 */
export function startClusters({
  onCleanup,
}: Pick<Context, "onCleanup">): (shape: ClusterShape) => Promise<string> {
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
  return (shape) =>
    new Promise((resolve, reject) => {
      waiting.set(shape.name, { resolve, reject });
      child.send(shape);
    });
}
