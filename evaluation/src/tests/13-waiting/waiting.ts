import { seededRandom, makeJobTrace, type FleetCluster, type TraceTenant } from "@resource-broker/testkit";
import { type BySize, type Context, evaluationTest } from "../../evaluation-test.ts";
import { distributionOf } from "../../measure/statistics.ts";
import { inTurn } from "../../measure/scope.ts";
import { measuresOf, overlentIn } from "./measures.ts";
import { type Replay, replay, type ReplayOptions, WAITS_FOR_MS, WAYS } from "./replay.ts";
import type { WaitingResult } from "./results.ts";
import { reportOf } from "./waiting-report.ts";

const JOBS: BySize<number> = { smoke: 400, quick: 2000, full: 10_000 };
const LOAD = 0.9;
const OPEN_ENDED = 0.1;
const CPUS = [8, 12, 16, 24, 32, 48];

const CLUSTERS: readonly FleetCluster[] = Array.from({ length: 20 }, (_, index) => {
  const cpus = CPUS[index % CPUS.length] ?? 8;
  return { clusterId: `cluster-${String(index + 1).padStart(2, "0")}`, cpus, memoryGi: 4 * cpus };
});

/** Two ask for more than their weight is worth, two for less. */
const TENANTS: readonly TraceTenant[] = [
  { name: "batch", weight: 1, demand: 4 },
  { name: "research", weight: 2, demand: 2 },
  { name: "product", weight: 3, demand: 3 },
  { name: "nightly", weight: 1, demand: 1.5 },
  { name: "tools", weight: 1, demand: 0.5 },
];

async function run(context: Context): Promise<WaitingResult> {
  const random = seededRandom(context.seed);
  const count = JOBS[context.size];
  const fleet = { clusters: CLUSTERS, tenants: TENANTS };
  const trace = makeJobTrace({ random: random.fork(1), count, load: LOAD, openEnded: OPEN_ENDED, ...fleet });
  const options: ReplayOptions = {
    ...fleet,
    trace,
    random: random.fork(2),
    clock: () => performance.now(),
  };
  const replays = await inTurn(context, WAYS, {
    doing: (way) => `the trace, with ${way}`,
    task: async (way) => replay(way, options),
  });
  return {
    jobs: count,
    lastsHours: trace.lastsMs / 3_600_000,
    load: LOAD,
    clusters: CLUSTERS.length,
    cpus: CLUSTERS.reduce((sum, { cpus }) => sum + cpus, 0),
    ways: replays.map(({ way, outcomes, calls, written }) => ({
      way,
      calls,
      written,
      ...measuresOf({ trace, ...fleet, outcomes, waitsForMs: WAITS_FOR_MS }),
    })),
    queue: queueOf(replays),
    overlent: replays.flatMap(({ way, outcomes }) =>
      overlentIn({ trace, clusters: CLUSTERS, outcomes }).map((problem) => `${way}: ${problem}`),
    ),
  };
}

function queueOf(replays: readonly Replay[]): WaitingResult["queue"] {
  const queue = replays.find((each) => each.queue !== undefined)?.queue;
  if (queue === undefined) throw new Error("nobody waited in the queue");
  return { ...queue, lookMs: distributionOf(queue.lookMs) };
}

export const waitingTest = evaluationTest<WaitingResult>({
  id: "13",
  title: "Waiting: a synthetic trace",
  method: [
    `One trace from a seed, as public cluster traces are: most jobs are small and short, 4 of 100 are large and 4 of 100 long, with heavy tails (2 minutes to 2 days, to 90 % of the largest cluster), some come in bursts, by day`,
    `more than by night. ${CLUSTERS.length} clusters, ${TENANTS.length} tenants with different weights and demands; what is asked for is ${LOAD * 100} % of the fleet on average, up to 120 % at noon; 1 job in 20 is urgent, 1 in 10 does not say how long it lasts.`,
    "It is played three times in simulated time on the broker's own `decide` and `apply`, each time with the same choice of provider: **asking again** (whoever is refused asks again after",
    "30 s ± 3 s, as agents do), **first come** (a reference: strictly in turn, the first keeps everybody waiting) and **the queue** of the ledger (priority, fair share, plans, nominations). Clusters advertise every minute;",
    "an ended reservation's capacity is back when its provider no longer lists it, 5 s to 4 minutes later. Who has waited for 24 hours gives up, and counts with 24 hours. No process and no network. Counted besides: whether the first in the queue started later than",
    "was computed when it became first; whether anybody waited while a provider had room that it kept for nobody (every 10 minutes); and whether a provider lent more than it has.",
  ].join("\n"),
  expectedSeconds: { smoke: 2, quick: 4, full: 30 },
  run,
  report: reportOf,
});
