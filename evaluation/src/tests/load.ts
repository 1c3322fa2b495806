import {
  type ClusterVariety,
  advertisementRequest,
  cpuMsOf,
  reservationRequest,
} from "@resource-broker/testkit";
import { type BySize, type Context, evaluationTest } from "../evaluation-test.ts";
import { inScope, inTurn } from "../measure/scope.ts";
import { pidOf } from "../measure/start-programs.ts";
import { distributionOf, median } from "../measure/statistics.ts";
import { countText, numberText, plainRow, tableOf } from "../report/format.ts";
import { connectAll, openOwn } from "./subject/subject.ts";

const CLUSTERS: BySize<number> = { smoke: 100, quick: 1000, full: 1000 };
const ROUND_MS: BySize<number> = { smoke: 200, quick: 1500, full: 6000 };
const ROUNDS = 3;

interface Load {
  readonly name: string;
  readonly inFlight: number;
  readonly variety?: ClusterVariety;
  readonly request: (clusterId: string, number: number) => string;
  readonly expected: number;
}

const reserve = (_: string, number: number): string => reservationRequest(`load-${number}`);
const LOADS: readonly Load[] = [
  { name: "reservations", inFlight: 250, request: reserve, expected: 201 },
  {
    name: "reservations, all providers alike",
    inFlight: 250,
    variety: "alike",
    request: reserve,
    expected: 201,
  },
  { name: "advertisements", inFlight: 100, request: (id) => advertisementRequest(id), expected: 200 },
];

interface Round {
  readonly perSecond: number;
  readonly brokerUs: number;
  readonly loadUs: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

interface LoadResult {
  readonly name: string;
  readonly clusters: number;
  readonly inFlight: number;
  readonly rounds: readonly Round[];
  /** Replies with another status than expected. */
  readonly unexpected: number;
}

async function measure(context: Context, load: Load): Promise<LoadResult> {
  const subject = await openOwn(context, { name: load.name });
  const pid = pidOf(subject.broker);
  const clusters = CLUSTERS[context.size];
  const connections = await connectAll(context, {
    subject,
    identities: subject.identities(clusters),
    begin: (connection) => connection.send(advertisementRequest(connection.clusterId, load.variety)),
  });
  const idle = [...connections];
  const rounds: Round[] = [];
  let unexpected = 0;
  let next = 0;
  const round = async (forMs: number): Promise<Round> => {
    const took: number[] = [];
    const [brokerBefore, loadBefore, beganAt] = [cpuMsOf(pid), process.cpuUsage(), performance.now()];
    const some = async (): Promise<void> => {
      while (performance.now() - beganAt < forMs) {
        context.signal.throwIfAborted();
        const connection = idle.shift();
        if (connection === undefined) return;
        const sentAt = performance.now();
        const { status } = await connection.send(load.request(connection.clusterId, next++));
        took.push(performance.now() - sentAt);
        if (status !== load.expected) unexpected++;
        idle.push(connection);
      }
    };
    await Promise.all(Array.from({ length: Math.min(load.inFlight, clusters) }, some));
    const elapsedMs = performance.now() - beganAt;
    const { user, system } = process.cpuUsage(loadBefore);
    const times = distributionOf(took);
    return {
      perSecond: (1000 * took.length) / elapsedMs,
      brokerUs: (1000 * (cpuMsOf(pid) - brokerBefore)) / took.length,
      loadUs: (user + system) / took.length,
      medianMs: times?.median ?? 0,
      p99Ms: times?.p99 ?? 0,
    };
  };
  await round(ROUND_MS[context.size] / 2);
  for (let each = 0; each < ROUNDS; each++) rounds.push(await round(ROUND_MS[context.size]));
  return { name: load.name, clusters, inFlight: load.inFlight, rounds, unexpected };
}

function middle({ rounds }: LoadResult, field: keyof Round): number {
  return median(rounds.map((round) => round[field])) ?? 0;
}

/** How much a broker does in a second: `npm run bench:broker`. */
export const loadTest = evaluationTest<{ readonly loads: readonly LoadResult[] }>({
  id: "load",
  title: "Load: how much a broker does in a second",
  method: [
    "A real broker process on its own core, over mTLS; every cluster has a certificate and a kept connection of its own, has advertised, and lends. So many requests",
    "are on their way at any time: as soon as one is answered, the next one leaves on the connection that has been idle longest. Three rounds after a warm-up; the",
    "figure is the median round. CPU: `/proc/<pid>/task/*/schedstat` of the broker, and the load process's own. Every reservation is durable before its reply.",
  ].join("\n"),
  expectedSeconds: { smoke: 6, quick: 20, full: 75 },
  run: async (context) => ({
    loads: await inTurn(context, LOADS, {
      doing: ({ name }) => name,
      task: (load) => inScope(context, (inner) => measure(inner, load)),
    }),
  }),
  report: ({ loads }) => ({
    faults: loads.map(
      ({ name, unexpected }) =>
        unexpected > 0 && `${name}: ${unexpected} replies had another status than expected`,
    ),
    summary: loads
      .slice(0, 1)
      .map((load) =>
        plainRow(
          `durable reservations a second, ${countText(load.clusters)} providers`,
          countText(middle(load, "perSecond")),
        ),
      ),
    text: [
      tableOf(loads, {
        "": ({ name, clusters, inFlight }) =>
          `${name}, ${countText(clusters)} clusters, ${inFlight} on their way`,
        "a second (rounds)": (load) => {
          const rates = load.rounds.map(({ perSecond }) => perSecond);
          const spread = `${countText(Math.min(...rates))}–${countText(Math.max(...rates))}`;
          return `${countText(middle(load, "perSecond"))} (${spread})`;
        },
        "p50 / p99": (load) =>
          `${numberText(middle(load, "medianMs"))} / ${numberText(middle(load, "p99Ms"))} ms`,
        "broker CPU each": (load) => [middle(load, "brokerUs"), "µs"],
        "load CPU each": (load) => [middle(load, "loadUs"), "µs"],
      }),
    ],
  }),
});
