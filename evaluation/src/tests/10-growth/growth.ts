import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Context, EvaluationTest } from "../../evaluation-test.ts";
import { growClusters } from "./grow-clusters.ts";
import { growPods } from "./grow-pods.ts";
import type { GrowthResult } from "./results.ts";
import { chartsOf, findingsOf } from "./show.ts";

async function run(context: Context): Promise<GrowthResult> {
  const part = async (name: string): Promise<Context> => {
    const folder = join(context.folder, name);
    await mkdir(folder, { recursive: true });
    return { ...context, folder };
  };
  const { progress } = context;
  const clusters = await growClusters(await part("clusters"), (share, doing) => progress(share / 2, doing));
  const pods = await growPods(await part("pods"), (share, doing) => progress(0.5 + share / 2, doing));
  return { clusters: clusters.steps, pods, wrong: clusters.wrong };
}

export const growthTest: EvaluationTest<GrowthResult> = {
  id: "10",
  title: "Growth: what it costs when there is more of it",
  method: [
    "**Clusters.** One real broker process; 1, 10, 100, 1,000, 10,000 clusters of different sizes advertise over mTLS and close their connections (what connections",
    "cost is in tests 1a and 1b). At each count 20 clients make reservations and release them, then up to 50 clusters advertise again: CPU is the difference of",
    "`/proc/<pid>/task/*/schedstat` (all threads, nanoseconds) before and after, divided by the number of calls; memory is VmRSS of `/proc/<pid>/status` after a pause.",
    "Advertisements stay fresh for 24 h here, so that all clusters stay candidates. **Pods.** A real agent process in a simulated cluster (kube-sim in a process of its",
    "own) of 200 to 150,000 pods, 30 on a node: CPU until `/readyz` says 200, VmRSS and RssAnon after a pause. One trial for each size: the slope is the",
    "result, not the single figure. Slopes are least squares of the logarithms.",
  ].join("\n"),
  expectedSeconds: (size) => ({ smoke: 12, quick: 45, full: 300 })[size],
  run,
  faults: ({ wrong }) => wrong,
  charts: chartsOf,
  findings: findingsOf,
};
