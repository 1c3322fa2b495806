import { setTimeout as sleep } from "node:timers/promises";
import { RESOURCE_REQUESTS, seededRandom } from "@resource-broker/testkit";
import type { Chart, Series } from "../../charts/chart.ts";
import type { Context, EvaluationTest, Findings, Size } from "../../evaluation-test.ts";
import { withCleanup } from "../../measure/async.ts";
import { type Distribution, distributionOf, mean, percentile } from "../../measure/statistics.ts";
import { PREDECESSOR } from "../../predecessor.ts";
import { comparedRow, countText, factorText, markdownTable, withUnit } from "../../report/format.ts";
import { baselineText, eachOf, type SideBySide, sideBySide } from "../subject/side-by-side.ts";
import { type LatencySetup, openSetup } from "./latency-setup.ts";

/** The steps of a reservation, in the order in which people tell them; each since the request was created. */
const STEPS = ["reserved", "reservationInstruction", "providerInstruction", "total"] as const;
type Step = (typeof STEPS)[number];

/** All in ms since the creation of the ResourceRequest was sent. */
interface Trial {
  /** The API server has stored it. */
  readonly created: number;
  readonly reserved: number;
  readonly reservationInstruction: number;
  readonly providerInstruction: number;
}

/** One that did not come to its end. */
interface Failure {
  readonly trial: string;
  readonly problem: string;
}

/** Of one broker. */
interface BrokerLatency {
  readonly subject: string;
  readonly trials: readonly Trial[];
  readonly failures: readonly Failure[];
}

/** Until the last of the three is there: which one that is differs from trial to trial. */
function valueOf(trial: Trial, step: Step): number {
  const { reserved, reservationInstruction, providerInstruction } = trial;
  return step === "total" ? Math.max(reserved, reservationInstruction, providerInstruction) : trial[step];
}

function statisticsOf({ trials }: Pick<BrokerLatency, "trials">, step: Step): Distribution | undefined {
  return distributionOf(trials.map((trial) => valueOf(trial, step)));
}

function latencyFaults({ trials, failures }: BrokerLatency): string[] {
  return [
    ...failures.map(({ trial, problem }) => `${trial}: ${problem}`),
    ...(trials.length === 0 ? ["no trial came to its end"] : []),
  ];
}

const THEIRS = PREDECESSOR.latencyMs;
const NAMES: Readonly<Record<Step, string>> = {
  reserved: "Reserved",
  reservationInstruction: "ReservationInstruction",
  providerInstruction: "ProviderInstruction",
  total: "all of them",
};

const SERIES_STYLES: readonly Series["style"][] = ["ours", "third"];

function chartsOf(result: SideBySide<BrokerLatency>): readonly Chart[] {
  return [
    {
      name: "4-latency",
      title: "From the creation of a ResourceRequest until …",
      subtitle: `mean of ${countText(result.ours.trials.length)} trials; real broker and agents, simulated API servers (kube-sim)`,
      kind: "bars",
      x: { label: "until there is", scale: "names" },
      y: { label: "time since the request was created", unit: "ms", scale: "log" },
      series: [
        ...eachOf(result).map(
          (each, at): Series => ({
            label: each.subject,
            style: SERIES_STYLES[at] ?? "fourth",
            points: STEPS.map((step) => pointOf(each, step)),
          }),
        ),
        {
          label: "Go thesis, 2026, published",
          style: "theirs",
          points: STEPS.map((step) => ({ x: NAMES[step], y: THEIRS[step] })),
        },
      ],
      notes: ["lines: 5th to 95th percentile of the trials"],
    },
  ];
}

function pointOf({ trials }: BrokerLatency, step: Step): Series["points"][number] {
  const times = trials.map((trial) => valueOf(trial, step));
  const [y, low, high] = [mean(times), percentile(times, 0.05), percentile(times, 0.95)];
  if (y === undefined || low === undefined || high === undefined) return { x: NAMES[step] };
  return { x: NAMES[step], y, low, high };
}

function findingsOf(result: SideBySide<BrokerLatency>): Findings {
  const { ours, baseline } = result;
  const total = (each: BrokerLatency): number | undefined => statisticsOf(each, "total")?.mean;
  return {
    summary: STEPS.map((step) =>
      comparedRow(`4 request created → ${NAMES[step]}, mean`, "ms", [
        statisticsOf(ours, step)?.mean,
        THEIRS[step],
      ]),
    ),
    text: [
      ...eachOf(result).flatMap((each) => [textOf(each), ""]),
      ...baselineText(result, latencyFaults),
      ...(baseline === undefined
        ? []
        : [
            `On this machine, with the same agents, this system against the baseline: ${factorText(total(ours), total(baseline))}.`,
            "",
          ]),
      "Our API servers are simulated (kube-sim) and answer faster than real ones; the predecessor's were real. What a real API server adds to each of the four writes was not measured here; it is milliseconds, not seconds. The largest part of the predecessor's time is the provider's poll, which a push replaces.",
    ].join("\n"),
  };
}

function textOf(each: BrokerLatency): string {
  const { subject, trials, failures } = each;
  const rows = STEPS.map((step) => {
    const statistics = statisticsOf(each, step);
    const { mean: average, median, p95, p99, most } = statistics ?? {};
    const times = [average, median, p95, p99, most, THEIRS[step]].map((ms) => withUnit(ms, "ms"));
    return [NAMES[step], ...times, factorText(average, THEIRS[step])];
  });
  const created = withUnit(mean(trials.map((trial) => trial.created)), "ms");
  return [
    `**${subject}**: ${countText(trials.length)} trials, ${countText(failures.length)} failed. The create call alone took ${created} on average: the API server's share, which is in every figure below.`,
    "",
    markdownTable(["until", "mean", "median", "p95", "p99", "most", "published mean", "factor"], rows),
  ].join("\n");
}

const TRIALS: Readonly<Record<Size, number>> = { smoke: 10, quick: 60, full: 300 };
const WARM_UP: Readonly<Record<Size, number>> = { smoke: 2, quick: 10, full: 20 };
/** The first requests may be refused: the provider has not advertised yet. */
const WARM_UP_TRIES = 60;
const WITHIN_MS = 20_000;
/** Between two trials, so that none falls into step with a timer. */
const PAUSE = { least: 30, most: 120 };
const REQUEST = {
  apiVersion: "rear.fluidos.eu/v1alpha1",
  kind: "ResourceRequest",
  spec: { requestedCPU: "500m", requestedMemory: "256Mi" },
} as const;

function runOne(context: Context): Promise<BrokerLatency> {
  return withCleanup(async (onCleanup) => {
    const { size, seed, signal, progress } = context;
    progress(0, "a broker, two clusters and their agents start");
    const setup = await openSetup(context, onCleanup);
    const random = seededRandom(seed);
    const pause = (): Promise<void> => sleep(random.between(PAUSE.least, PAUSE.most), undefined, { signal });
    progress(0.1, "warming up");
    await warmUp(setup, WARM_UP[size], pause);
    const trials: Trial[] = [];
    const failures: Failure[] = [];
    for (let number = 0; number < TRIALS[size]; number++) {
      if (number % 5 === 0)
        progress(0.2 + (0.8 * number) / TRIALS[size], `trial ${number} of ${TRIALS[size]}`);
      const name = `latency-${number}`;
      const outcome = await reserveOnce(setup, name);
      if (typeof outcome === "string") failures.push({ trial: name, problem: outcome });
      else trials.push(outcome);
      await pause();
    }
    return { subject: setup.subject, trials, failures };
  });
}

async function warmUp(setup: LatencySetup, wanted: number, pause: () => Promise<void>): Promise<void> {
  for (let tries = 0, done = 0; done < wanted; tries++) {
    const outcome = await reserveOnce(setup, `warm-${tries}`);
    if (typeof outcome !== "string") done++;
    else if (tries >= WARM_UP_TRIES) throw new Error(`no reservation came about: ${outcome}`);
    await pause();
  }
}

/** A ResourceRequest from its creation until both clusters have their instruction; what went wrong, in words. */
async function reserveOnce({ requester, observations }: LatencySetup, name: string): Promise<Trial | string> {
  const where = { name, namespace: "default" };
  const beganAt = performance.now();
  await requester.client.create(RESOURCE_REQUESTS, { ...REQUEST, metadata: where });
  const created = performance.now() - beganAt;
  try {
    const request = await observations.waitFor(`request/${name}`, WITHIN_MS);
    if (request === undefined) return `not Reserved after ${WITHIN_MS / 1000} s`;
    if (request.text === "") return "it was refused";
    const [borrowed, held] = await Promise.all(
      [`borrowed/${request.text}`, `held/${request.text}`].map((thing) =>
        observations.waitFor(thing, WITHIN_MS),
      ),
    );
    if (borrowed === undefined) return `no ReservationInstruction after ${WITHIN_MS / 1000} s`;
    if (held === undefined) return `no ProviderInstruction after ${WITHIN_MS / 1000} s`;
    return {
      created,
      reserved: request.at - beganAt,
      reservationInstruction: borrowed.at - beganAt,
      providerInstruction: held.at - beganAt,
    };
  } finally {
    await requester.client.delete(RESOURCE_REQUESTS, where);
  }
}

export const latencyTest: EvaluationTest<SideBySide<BrokerLatency>> = {
  id: "4",
  title: "Reservation latency, end to end",
  method: [
    "Real processes: the broker on its own core; two agents and the API servers of their clusters (kube-sim, in a process of its own) on the other. A trial creates a",
    "`ResourceRequest` (500m, 256Mi) in one cluster through its API server and watches, over HTTPS as any client would: `status.phase` of the request until it is no",
    "longer Pending, the `ReservationInstruction` in the same cluster, the `ProviderInstruction` in the other. Time: the monotonic clock of the process that watches,",
    "from before the create call is sent until the watch event is read, so both API server round trips are included. Total: until the last of the three. Each",
    "request is deleted afterwards; random pauses of 30 to 120 ms between trials; the first trials are not counted (warm-up). With `--baseline` the same agents work",
    "with the other broker; where it cannot push, the provider's agent polls every 5 s.",
  ].join("\n"),
  expectedSeconds: (size) => ({ smoke: 6, quick: 12, full: 40 })[size],
  run: (context) => sideBySide(context, runOne),
  faults: ({ ours }) => latencyFaults(ours).map((fault) => `${ours.subject}: ${fault}`),
  charts: chartsOf,
  findings: findingsOf,
};
