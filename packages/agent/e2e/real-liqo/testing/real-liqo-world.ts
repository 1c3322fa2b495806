import {
  type ClusterPlan,
  type RealLiqoControlPlanes,
  realLiqoControlPlanes,
  startWorld,
  type WholePod,
  type World,
} from "@resource-broker/testkit";
import { untilKnown } from "../../liqo/testing/liqo-world.ts";

const SHOWN_LINES = 20;

/** Clusters with the real Liqo, and agents with the shipped rights. */
export interface RealLiqoWorld extends World {
  readonly liqo: RealLiqoControlPlanes;
  /** Writes the last lines of every program to stderr: for `onTestFailed`. */
  readonly tellLastWords: () => Promise<void>;
}

/** Resolves when every agent has told the broker its Liqo's ID. */
export async function startRealLiqoWorld(plans: readonly ClusterPlan[]): Promise<RealLiqoWorld> {
  const liqo = realLiqoControlPlanes({ names: plans.map(({ name }) => name) });
  const clusters = plans.map((plan) => ({
    ...plan,
    flags: [...liqo.agentFlags(plan.name), ...(plan.flags ?? [])],
  }));
  const world = await startWorld({ clusters, controlPlanes: liqo });
  for (const { name, hasAgent = true } of clusters) if (hasAgent) await untilKnown(world, name);
  const tellLastWords = async (): Promise<void> => {
    for (const { name, hasAgent = true } of clusters) {
      const agent = hasAgent ? (await world.agent(name).logLines()).slice(-SHOWN_LINES) : [];
      const words = [await liqo.cluster(name).lastWords(), `== ${name}: agent`, ...agent];
      process.stderr.write(`${words.join("\n")}\n`);
    }
  };
  return { ...world, liqo, tellLastWords };
}

/** A pod that kube-scheduler can put on this node alone. */
export function podFor(node: string, name = "guest", namespace = "default"): WholePod {
  const requests = { cpu: "1", memory: "1Gi" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace },
    spec: {
      nodeSelector: { "kubernetes.io/hostname": node },
      containers: [{ name: "main", image: "example/app:1", resources: { requests } }],
    },
  };
}
