import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import {
  type ClusterVariety,
  advertisementRequest,
  cpuMsOf,
  reservationRequest,
} from "@resource-broker/testkit";
import type { Context, EvaluationTest, Size } from "../../evaluation-test.ts";
import { withCleanup } from "../../measure/async.ts";
import type { Connection } from "../../measure/load/connection.ts";
import { pidOf } from "../../measure/start-programs.ts";
import { distributionOf, median } from "../../measure/statistics.ts";
import { countText, markdownTable, numberText, plainRow } from "../../report/format.ts";
import { connectAll, openSubject } from "../subject/subject.ts";

const CLUSTERS: Readonly<Record<Size, number>> = { smoke: 100, quick: 1000, full: 1000 };
const ROUND_MS: Readonly<Record<Size, number>> = { smoke: 200, quick: 1500, full: 6000 };
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
  {
    name: "advertisements",
    inFlight: 100,
    request: (clusterId) => advertisementRequest(clusterId),
    expected: 200,
  },
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

/** How much a broker does in a second: `npm run bench:broker`. */
export const loadTest: EvaluationTest<{ readonly loads: readonly LoadResult[] }> = {
  id: "load",
  title: "Load: how much a broker does in a second",
  method: [
    "A real broker process on its own core, over mTLS; every cluster has a certificate and a kept connection of its own, has advertised, and lends. So many requests",
    "are on their way at any time: as soon as one is answered, the next one leaves on the connection that has been idle longest. Three rounds after a warm-up; the",
    "figure is the median round. CPU: `/proc/<pid>/task/*/schedstat` of the broker, and the load process's own. Every reservation is durable before its reply.",
  ].join("\n"),
  expectedSeconds: (size) => ({ smoke: 6, quick: 20, full: 75 })[size],
  run: async (context) => {
    const loads: LoadResult[] = [];
    for (const [index, load] of LOADS.entries()) {
      context.progress(index / LOADS.length, load.name);
      loads.push(await measure(context, load));
    }
    return { loads };
  },
  faults: ({ loads }) =>
    loads
      .filter(({ unexpected }) => unexpected > 0)
      .map(({ name, unexpected }) => `${name}: ${unexpected} replies had another status than expected`),
  charts: () => [],
  findings: ({ loads }) => {
    const rows = loads.map((load) => ({ ...load, rate: middle(load.rounds, "perSecond") }));
    return {
      summary: rows
        .slice(0, 1)
        .map(({ clusters, rate }) =>
          plainRow(`durable reservations a second, ${countText(clusters)} providers`, countText(rate)),
        ),
      text: markdownTable(
        ["", "a second (rounds)", "p50 / p99", "broker CPU each", "load CPU each"],
        rows.map(({ name, clusters, inFlight, rounds, rate }) => [
          `${name}, ${countText(clusters)} clusters, ${inFlight} on their way`,
          `${countText(rate)} (${countText(Math.min(...rounds.map((each) => each.perSecond)))}–${countText(Math.max(...rounds.map((each) => each.perSecond)))})`,
          `${numberText(middle(rounds, "medianMs"))} / ${numberText(middle(rounds, "p99Ms"))} ms`,
          `${numberText(middle(rounds, "brokerUs"))} µs`,
          `${numberText(middle(rounds, "loadUs"))} µs`,
        ]),
      ),
    };
  },
};

function middle(rounds: readonly Round[], field: keyof Round): number {
  return median(rounds.map((round) => round[field])) ?? 0;
}

function measure(context: Context, load: Load): Promise<LoadResult> {
  return withCleanup(async (onCleanup) => {
    const folder = await mkdtemp(join(context.folder, "load-"));
    const subject = await openSubject({ ...context, folder }, onCleanup);
    const pid = pidOf({ pid: subject.broker?.pid });
    const clusters = CLUSTERS[context.size];
    const advertise = (connection: Connection): Promise<unknown> =>
      connection.send(advertisementRequest(connection.clusterId, load.variety));
    const connections = await connectAll(subject, subject.identities(clusters), {
      later: onCleanup,
      begin: advertise,
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
  });
}
