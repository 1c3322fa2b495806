import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Answers, ClusterSize, Order } from "./messages.ts";

const PROGRAM = join(import.meta.dirname, "cluster-process.ts");
/** A hundred and fifty thousand pods are a gigabyte of JSON objects. */
const NODE_FLAGS = ["--max-old-space-size=6000"];

/** A simulated cluster in a process of its own. */
export interface BenchCluster {
  readonly kubeconfig: string;
  readonly change: (perSecond: number) => void;
  /** Ends the changes; says what the pods that are left ask for. */
  readonly rest: () => Promise<Answers["resting"]>;
  /** A pod takes a GPU, or gives it back. Resolves when it is so. */
  readonly occupy: () => Promise<void>;
  readonly vacate: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function startCluster(size: ClusterSize): Promise<BenchCluster> {
  const child = fork(PROGRAM, { execArgv: NODE_FLAGS, stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const ended = once(child, "exit");
  const order = (given: Order): void => void child.send(given);
  const answer = <Kind extends keyof Answers>(kind: Kind): Promise<Answers[Kind]> =>
    new Promise((resolve, reject) => {
      const gone = (): void => reject(new Error(`the cluster has ended without saying "${kind}"`));
      const listen = (message: unknown): void => {
        if (!isAnswer(message, kind)) return;
        child.off("message", listen);
        child.off("exit", gone);
        resolve(message);
      };
      child.on("message", listen);
      child.once("exit", gone);
    });
  const ask = <Kind extends keyof Answers>(given: Order, kind: Kind): Promise<Answers[Kind]> => {
    order(given);
    return answer(kind);
  };

  const { kubeconfig } = await ask({ kind: "serve", size }, "listening");
  return {
    kubeconfig,
    change: (perSecond) => order({ kind: "change", perSecond }),
    rest: () => ask({ kind: "rest" }, "resting"),
    occupy: async () => void (await ask({ kind: "occupy" }, "done")),
    vacate: async () => void (await ask({ kind: "vacate" }, "done")),
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}

function isAnswer<Kind extends keyof Answers>(message: unknown, kind: Kind): message is Answers[Kind] {
  return typeof message === "object" && message !== null && "kind" in message && message.kind === kind;
}
