import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createKubeSim, type JsonObject, type SimCluster } from "@resource-broker/kube-sim";
import { systemClock } from "@resource-broker/runtime";
import { OUR_KINDS } from "./broker-cluster.ts";
import { type Outcome, runCli, temporaryFolder } from "./cli.ts";

/** A simulated cluster with our kinds in it, and brokerctl with a kubeconfig for it. */
export interface OneCluster {
  readonly cluster: SimCluster;
  readonly kubeconfig: string;
  readonly now: () => number;
  readonly run: (...args: readonly string[]) => Promise<Outcome>;
  /** The same for a command that must succeed: its standard output. */
  readonly ok: (...args: readonly string[]) => Promise<string>;
}

type WhenDone = (cleanUp: () => Promise<void>) => void;

export interface OneClusterOptions {
  readonly objects?: readonly object[];
  /** Absent: every kind of ours. */
  readonly definitions?: readonly object[];
}

export async function startOneCluster(
  whenDone: WhenDone,
  options: OneClusterOptions = {},
): Promise<OneCluster> {
  const { objects = [], definitions = OUR_KINDS } = options;
  const folder = await temporaryFolder(whenDone);
  const clock = systemClock(() => Math.round(performance.timeOrigin + performance.now()));
  const sim = createKubeSim({ clock, randomBytes });
  whenDone(() => sim.stop());
  const cluster = await sim.addCluster({ name: "rome", objects: definitions.map(plain), behaves: false });
  cluster.seed(objects.map(plain));
  const kubeconfig = join(folder, "rome.yaml");
  await writeFile(kubeconfig, cluster.kubeconfig);
  const run: OneCluster["run"] = (...args) =>
    runCli(args, { now: clock.wallMs, env: { KUBECONFIG: kubeconfig } });
  return {
    cluster,
    kubeconfig,
    now: clock.wallMs,
    run,
    ok: async (...args) => {
      const { code, out, err } = await run(...args);
      if (code !== 0) throw new Error(`brokerctl ${args.join(" ")} ended with ${code}: ${err}`);
      return out;
    },
  };
}

/** JSON all the way: what is undefined is left out. */
function plain(object: object): JsonObject {
  return JSON.parse(JSON.stringify(object)) as JsonObject;
}
