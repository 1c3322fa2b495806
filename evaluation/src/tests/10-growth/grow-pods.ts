import { setTimeout as sleep } from "node:timers/promises";
import { memoryOf } from "@resource-broker/testkit";
import type { Context, Size } from "../../evaluation-test.ts";
import { startClusters } from "../../measure/clusters/start-clusters.ts";
import { cpuTimeOf } from "../../measure/cpu-time.ts";
import { pidOf, startMeasuredAgent } from "../../measure/start-programs.ts";
import { withCleanup } from "../../measure/with-cleanup.ts";
import { countText } from "../../report/number-text.ts";
import { openSubject } from "../subject/subject.ts";
import type { PodsStep } from "./results.ts";

const PODS: Readonly<Record<Size, readonly number[]>> = {
  smoke: [200, 2000],
  quick: [200, 2000, 20_000],
  full: [200, 2000, 20_000, 150_000],
};
const PODS_PER_NODE = 30;
const SETTLE_MS: Readonly<Record<Size, number>> = { smoke: 500, quick: 3000, full: 15_000 };

/** One agent after the other, in larger and larger clusters. */
export function growPods(
  context: Context,
  onShare: (share: number, doing: string) => void,
): Promise<PodsStep[]> {
  return withCleanup(async (onCleanup) => {
    const subject = await openSubject(context, onCleanup);
    const steps: PodsStep[] = [];
    const sizes = PODS[context.size];
    for (const [index, pods] of sizes.entries()) {
      onShare(index / sizes.length, `an agent in a cluster of ${countText(pods)} pods`);
      const identity = subject.identities(sizes.length)[index];
      if (identity === undefined) throw new Error("a cluster is needed");
      steps.push(
        await withCleanup(async (ending) => {
          // A process of its own for each: the memory of a large one would be in the way of the next.
          const clusters = startClusters();
          ending(clusters.stop);
          const nodes = Math.max(1, Math.ceil(pods / PODS_PER_NODE));
          const kubeconfig = await clusters.add({ name: identity.clusterId, nodes, pods });
          const agent = await startMeasuredAgent(context, {
            clusterId: identity.clusterId,
            broker: { port: subject.port },
            certificates: { cluster: () => identity.credentials },
            kubeconfig,
          });
          ending(agent.dispose);
          const syncCpuMs = cpuTimeOf(pidOf(agent)).exactMs;
          await sleep(SETTLE_MS[context.size], undefined, { signal: context.signal });
          const { rssMb, privateMb } = memoryOf(pidOf(agent));
          return { pods, nodes, syncCpuMs, rssMb, privateMb };
        }),
      );
    }
    return steps;
  });
}
