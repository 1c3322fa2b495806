import type { BrokerProcess } from "@resource-broker/testkit";
import type { Chart } from "../../charts/chart.ts";
import type { Context, EvaluationTest, Findings, Size } from "../../evaluation-test.ts";
import type { Connection } from "../../measure/load/connection.ts";
import { logLogFit } from "../../measure/fit.ts";
import { type Later, withEndings } from "../../measure/with-endings.ts";
import { markdownTable } from "../../report/markdown-table.ts";
import { countText, withUnit } from "../../report/number-text.ts";
import { advertisementFor, requestFor } from "../subject/bodies.ts";
import { advertise, NO_ANSWER, reserve } from "../subject/calls.ts";
import { fill, grantedIds } from "../subject/fill.ts";
import { listReservations } from "../subject/list-reservations.ts";
import { connectAll, openSubject, type Subject } from "../subject/subject.ts";
import { type Recovery, recoveryFaults, type RecoveryStep, stepOf, survivors } from "./figures.ts";

/** Each has one request on its way when the broker is killed. */
const CLUSTERS: Readonly<Record<Size, number>> = { smoke: 40, quick: 200, full: 200 };
const LENDER = { cpuMillis: 4_000_000, memoryMi: 4_000_000 };
const SMALL = { cpuMillis: 500, memoryMi: 256 };
const TARGET = { reservations: 100_000, readyMs: 2000 };
const ASKED_FOR = 10_000;

const PLANS: Readonly<Record<Size, readonly { readonly reservations: number; readonly kills: number }[]>> = {
  smoke: [{ reservations: 500, kills: 1 }],
  quick: [
    { reservations: 1000, kills: 2 },
    { reservations: ASKED_FOR, kills: 4 },
  ],
  full: [
    { reservations: 100, kills: 5 },
    { reservations: 1000, kills: 5 },
    { reservations: ASKED_FOR, kills: 20 },
    { reservations: 100_000, kills: 5 },
  ],
};

export interface RecoveryResult {
  readonly steps: readonly { readonly planned: number; readonly recoveries: readonly Recovery[] }[];
}

function run(context: Context): Promise<RecoveryResult> {
  return withEndings(async (later) => {
    const { size, signal, progress } = context;
    const subject = await openSubject(context, later);
    const { broker } = subject;
    if (broker === undefined) throw new Error("only our own broker can be killed");
    const acknowledged = new Set<string>();
    const steps: { planned: number; recoveries: Recovery[] }[] = [];
    const plan = PLANS[size];
    const last = plan.at(-1)?.reservations ?? 1;
    for (const { reservations, kills } of plan) {
      const step = { planned: reservations, recoveries: [] as Recovery[] };
      steps.push(step);
      const say = (share: number): void =>
        progress(
          (0.7 * (acknowledged.size + 1)) / last,
          `reserving until there are ${countText(reservations)}: ${Math.round(100 * share)} %`,
        );
      say(0);
      await withEndings(async (closing) => {
        const connections = await openClusters(subject, CLUSTERS[size], closing);
        const count = reservations - acknowledged.size;
        const name = `fill-${reservations}`;
        const answers = await fill(connections, {
          count,
          request: requestFor(SMALL),
          name,
          signal,
          onShare: say,
        });
        for (const id of grantedIds(answers)) acknowledged.add(id);
      });
      for (let kill = 1; kill <= kills; kill++) {
        signal.throwIfAborted();
        progress(
          (0.7 * reservations) / last + (0.3 * kill) / kills,
          `kill ${kill} of ${kills} at ${countText(reservations)}`,
        );
        step.recoveries.push(
          await killOnce({
            subject,
            broker,
            clusters: CLUSTERS[size],
            acknowledged,
            name: `kill-${reservations}-${kill}`,
          }),
        );
      }
    }
    return { steps };
  });
}

function openClusters(subject: Subject, count: number, later: Later): Promise<Connection[]> {
  const begin = (each: Connection): Promise<void> =>
    advertise(each, advertisementFor(each.clusterId, LENDER));
  return connectAll(subject, subject.identities(count), { later, begin });
}

interface Killing {
  readonly subject: Subject;
  readonly broker: BrokerProcess;
  readonly clusters: number;
  readonly acknowledged: Set<string>;
  readonly name: string;
}

/** Kills the broker in the middle of its work, starts it again and counts. */
async function killOnce({ subject, broker, clusters, acknowledged, name }: Killing): Promise<Recovery> {
  const unanswered = await withEndings(async (later) => {
    const connections = await openClusters(subject, clusters, later);
    const sent = connections.map((connection, at) => reserve(connection, requestFor(SMALL), `${name}-${at}`));
    await Promise.any(sent);
    await broker.kill("SIGKILL");
    const answers = await Promise.all(sent);
    for (const id of grantedIds(answers)) acknowledged.add(id);
    return answers.filter(({ status }) => status === NO_ANSWER).length;
  });
  const before = acknowledged.size;
  const startedAt = performance.now();
  const { readyAfterMs } = await broker.restart();
  broker.admin().close();
  const firstGrantMs = await withEndings(async (later) => {
    const [lender, asker] = await connectAll(subject, subject.identities(2), { later });
    if (lender === undefined || asker === undefined) throw new Error("two clusters are needed");
    // As its agent does when it has lost the broker: what was advertised in the last second may be gone.
    await advertise(lender, advertisementFor(lender.clusterId, LENDER));
    const { status, id } = await reserve(asker, requestFor(SMALL), `${name}-first`);
    if (status !== 201 || id === undefined) throw new Error(`no reservation after the restart: ${status}`);
    acknowledged.add(id);
    return performance.now() - startedAt;
  });
  const listed = (await listReservations(broker)).map(({ id }) => id);
  const counted = survivors(acknowledged, listed, unanswered);
  // What had been on its way and is there is known from now on.
  for (const id of listed) acknowledged.add(id);
  return { reservations: before, readyMs: readyAfterMs, firstGrantMs, unanswered, ...counted };
}

function stepsOf({ steps }: RecoveryResult): RecoveryStep[] {
  return steps.flatMap(({ planned, recoveries }) => stepOf(planned, recoveries) ?? []);
}

function charts(result: RecoveryResult): readonly Chart[] {
  const steps = stepsOf(result);
  const slope = logLogFit(steps.map(({ reservations, readyMs }) => ({ x: reservations, y: readyMs })))?.slope;
  return [
    {
      name: "9-recovery",
      title: "Back after kill -9",
      subtitle:
        "from the start of the process until it is ready, with all reservations in its ledger (SQLite)",
      kind: "lines",
      x: { label: "reservations in the ledger", scale: "log" },
      y: { label: "time until ready", unit: "ms", scale: "log" },
      series: [
        {
          label: "this system, ready",
          look: "ours",
          points: steps.map(({ reservations, readyMs, readyLow, readyHigh }) => ({
            x: reservations,
            y: readyMs,
            low: readyLow,
            high: readyHigh,
          })),
        },
        {
          label: "this system, first new reservation",
          look: "third",
          points: steps.map(({ reservations, firstGrantMs }) => ({ x: reservations, y: firstGrantMs })),
        },
      ],
      notes: [
        "median of the kills; bars: fastest and slowest",
        ...(slope === undefined
          ? []
          : [`slope ${slope.toFixed(2)} (log-log); 1 would be: twice as many take twice as long`]),
      ],
    },
  ];
}

function findings(result: RecoveryResult): Findings {
  const steps = stepsOf(result);
  const all = result.steps.flatMap(({ recoveries }) => recoveries);
  const sum = (of: (each: Recovery) => number): number => all.reduce((total, each) => total + of(each), 0);
  const asked = steps.find(({ reservations }) => reservations === ASKED_FOR) ?? steps.at(-1);
  const largest = steps.find(({ reservations }) => reservations === TARGET.reservations);
  return {
    summary: [
      {
        figure: `9 ready again after kill -9, ${countText(asked?.reservations ?? 0)} reservations`,
        ours: withUnit(asked?.readyMs, "ms"),
        theirs: "–",
        factor: "–",
      },
      {
        figure: "9 lost / made up, of all kills",
        ours: `${sum(({ lost }) => lost)} / ${sum(({ strange }) => strange)}`,
        theirs: "–",
        factor: "–",
      },
    ],
    text: [
      `${countText(all.length)} kills in the middle of a burst of requests; ${countText(sum(({ unanswered }) => unanswered))} requests had no answer then, and each of them is there whole or not at all.`,
      "",
      markdownTable(
        ["reservations", "kills", "ready, median", "fastest to slowest", "first new reservation, median"],
        steps.map((step) => [
          countText(step.reservations),
          countText(step.kills),
          withUnit(step.readyMs, "ms"),
          `${countText(step.readyLow)} to ${countText(step.readyHigh)} ms`,
          withUnit(step.firstGrantMs, "ms"),
        ]),
      ),
      "",
      ...(largest !== undefined && largest.readyMs > TARGET.readyMs
        ? [
            `**Short of our own target**: ${countText(TARGET.readyMs)} ms with ${countText(TARGET.reservations)} reservations; it took ${withUnit(largest.readyMs, "ms")}.`,
            "",
          ]
        : []),
      "The predecessor keeps its state in Kubernetes objects and published nothing on this. kill -9 does not test the loss of power: docs/reliability.md says what does.",
    ].join("\n"),
  };
}

export const recoveryTest: EvaluationTest<RecoveryResult> = {
  id: "9",
  title: "Recovery after kill -9",
  method: [
    `A real broker process (SQLite store, every grant durable before its reply) is filled by ${CLUSTERS.full} clusters over mTLS. Then each sends one more request in the same moment, and as soon as`,
    "the first of them is answered the process gets SIGKILL. It is started again on the same files. Time: the monotonic clock of the load process, from the spawn until",
    "`/readyz` and `/healthz` of the API say 200 (asked every 5 ms), and until a cluster has connected, advertised, and another one has a new reservation. Then the whole ledger is listed and",
    "held against every acknowledgement ever given: nothing may be lost, and nothing may be there that nobody asked for.",
  ].join("\n"),
  expectedSeconds: (size) => ({ smoke: 4, quick: 25, full: 150 })[size],
  run,
  faults: ({ steps }) => recoveryFaults(steps.flatMap(({ recoveries }) => recoveries)),
  charts,
  findings,
};
