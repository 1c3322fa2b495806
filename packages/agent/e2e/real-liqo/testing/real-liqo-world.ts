import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  type ClusterPlan,
  type RealLiqoCluster,
  type RealLiqoControlPlanes,
  realLiqoControlPlanes,
  startWorld,
} from "@resource-broker/testkit";
import { type Direction, directionOf, type ScenarioWorld } from "../../liqo/testing/directions.ts";
import { untilKnown, userNamespaces } from "../../liqo/testing/liqo-world.ts";

const SHOWN_LINES = 20;

/** Clusters with the real Liqo, and agents with the shipped rights. */
export interface RealLiqoWorld extends ScenarioWorld {
  readonly liqo: RealLiqoControlPlanes;
  /** Writes the last lines of every program to stderr: for `onTestFailed`. */
  readonly printLastLines: () => Promise<void>;
}

/** One that asks another, each with its Liqo. */
export interface RealDirection extends Direction {
  readonly world: RealLiqoWorld;
  readonly at: { readonly requester: RealLiqoCluster; readonly provider: RealLiqoCluster };
}

export function realDirection(world: RealLiqoWorld, requester: string, provider: string): RealDirection {
  const at = { requester: world.liqo.cluster(requester), provider: world.liqo.cluster(provider) };
  return { ...directionOf(world, requester, provider), world, at };
}

/** Resolves when every agent has told the broker its Liqo's ID. */
export async function startRealLiqoWorld(plans: readonly ClusterPlan[]): Promise<RealLiqoWorld> {
  const liqo = realLiqoControlPlanes({ names: plans.map(({ name }) => name) });
  const recorders = new Map(plans.map(({ name }) => [name, recorderOf(liqo, name)]));
  for (const { write } of recorders.values()) await write();
  const clusters = plans.map((plan) => ({
    ...plan,
    flags: [...liqo.agentFlags(plan.name), ...(recorders.get(plan.name)?.flags ?? []), ...(plan.flags ?? [])],
  }));
  const world = await startWorld({ clusters, controlPlanes: liqo });
  for (const { name, hasAgent = true } of clusters) if (hasAgent) await untilKnown(world, name);
  for (const { name } of clusters) await liqo.cluster(name).plane.seed(userNamespaces());
  const liqoctlCalls = async (name: string) => (await recorders.get(name)?.calls()) ?? [];
  const printLastLines = async (): Promise<void> => {
    for (const { name, hasAgent = true } of clusters) {
      const agent = hasAgent ? (await world.agent(name).logLines()).slice(-SHOWN_LINES) : [];
      const calls = `== ${name}: liqoctl for ${(await liqoctlCalls(name)).join(", ")}`;
      const words = [await liqo.cluster(name).lastLogLines(), `== ${name}: agent`, ...agent, calls];
      process.stderr.write(`${words.join("\n")}\n`);
    }
  };
  return { ...world, liqo, printLastLines, liqoctlCalls, hasKubelets: true };
}

/** A program that writes down what it is started for, and is liqoctl. */
function recorderOf(liqo: RealLiqoControlPlanes, name: string) {
  const program = liqo.agentFlags(name).find((flag) => flag.startsWith("--liqoctl="));
  const path = join(dirname(liqo.kubeconfigs(name)), `liqoctl-of-${name}`);
  const text = `#!/bin/sh\necho "$*" >> ${path}.calls\nexec ${program?.split("=")[1]} "$@"\n`;
  return {
    flags: [`--liqoctl=${path}`],
    write: () => writeFile(path, text, { mode: 0o700 }),
    calls: async () => {
      const lines = await readFile(`${path}.calls`, "utf8").catch(() => "");
      return lines.split("\n").flatMap((line) => /^[a-z ]+(?= --)/.exec(line)?.[0] ?? []);
    },
  };
}
