import { setTimeout as sleep } from "node:timers/promises";
import { RESOURCE_REQUESTS, seededRandom } from "@resource-broker/testkit";
import { type Chart, type Series, series, THEIRS } from "../../charts/chart.ts";
import type { BySize, Context } from "../../evaluation-test.ts";
import { lookUntil } from "../../measure/async.ts";
import { inTurn, numbersTo } from "../../measure/scope.ts";
import { type Distribution, distributionOf, mean, percentile } from "../../measure/statistics.ts";
import { PREDECESSOR } from "../../predecessor.ts";
import { columnsOf, comparedRow, countText, factorText, tableOf, withUnit } from "../../report/format.ts";
import { comparedTest, eachOf, type SideBySide } from "../subject/side-by-side.ts";
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

/** Of one broker. */
interface BrokerLatency {
  readonly subject: string;
  readonly trials: readonly Trial[];
  /** Those that did not come to their end. */
  readonly failures: readonly { readonly trial: string; readonly problem: string }[];
}

const TRIALS: BySize<number> = { smoke: 10, quick: 60, full: 300 };
const WARM_UP: BySize<number> = { smoke: 2, quick: 10, full: 20 };
/** The first requests may be refused: the provider has not advertised yet. */
const WARM_UP_TRIES = 60;
const LOOKS = { everyMs: 5, withinMs: 20_000 };
/** Between two trials, so that none falls into step with a timer. */
const PAUSE = { least: 30, most: 120 };
const REQUEST = {
  apiVersion: "rear.fluidos.eu/v1alpha1",
  kind: "ResourceRequest",
  spec: { requestedCPU: "500m", requestedMemory: "256Mi" },
} as const;

async function measure(context: Context): Promise<BrokerLatency> {
  const { size, seed, signal } = context;
  context.progress(0, "a broker, two clusters and their agents start");
  const setup = await openSetup(context);
  const random = seededRandom(seed);
  const reserve = async (name: string): Promise<Trial | string> => {
    const outcome = await reserveOnce(setup, name);
    await sleep(random.between(PAUSE.least, PAUSE.most), undefined, { signal });
    return outcome;
  };
  context.progress(0.1, "warming up");
  for (let tries = 0, done = 0; done < WARM_UP[size]; tries++) {
    const outcome = await reserve(`warm-${tries}`);
    if (typeof outcome !== "string") done++;
    else if (tries >= WARM_UP_TRIES) throw new Error(`no reservation came about: ${outcome}`);
  }
  const outcomes = await inTurn(context, numbersTo(TRIALS[size]), {
    doing: (number) => `trial ${number} of ${TRIALS[size]}`,
    task: (_, index) => reserve(`latency-${index}`),
  });
  return {
    subject: setup.subject,
    trials: outcomes.filter((outcome) => typeof outcome !== "string"),
    failures: outcomes.flatMap((problem, index) =>
      typeof problem === "string" ? [{ trial: `latency-${index}`, problem }] : [],
    ),
  };
}

/** A ResourceRequest from its creation until both clusters have their instruction; what went wrong, in words. */
async function reserveOnce({ requester, observations }: LatencySetup, name: string): Promise<Trial | string> {
  const where = { name, namespace: "default" };
  const seen = (thing: string) => lookUntil(LOOKS, () => observations.get(thing));
  const beganAt = performance.now();
  await requester.client.create(RESOURCE_REQUESTS, { ...REQUEST, metadata: where });
  const created = performance.now() - beganAt;
  const late = `after ${LOOKS.withinMs / 1000} s`;
  try {
    const request = await seen(`request/${name}`);
    if (request === undefined) return `not Reserved ${late}`;
    if (request.text === "") return "it was refused";
    const [borrowed, held] = await Promise.all([
      seen(`borrowed/${request.text}`),
      seen(`held/${request.text}`),
    ]);
    if (borrowed === undefined) return `no ReservationInstruction ${late}`;
    if (held === undefined) return `no ProviderInstruction ${late}`;
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

/** Until the last of the three is there: which one that is differs from trial to trial. */
function timesOf({ trials }: BrokerLatency, step: Step): number[] {
  return trials.map((trial) =>
    step === "total"
      ? Math.max(trial.reserved, trial.reservationInstruction, trial.providerInstruction)
      : trial[step],
  );
}

function statisticsOf(each: BrokerLatency, step: Step): Partial<Distribution> {
  return distributionOf(timesOf(each, step)) ?? {};
}

const PUBLISHED = PREDECESSOR.latencyMs;
const NAMES: Readonly<Record<Step, string>> = {
  reserved: "Reserved",
  reservationInstruction: "ReservationInstruction",
  providerInstruction: "ProviderInstruction",
  total: "all of them",
};

function chartOf(result: SideBySide<BrokerLatency>): Chart {
  const styles = ["ours", "third"] as const;
  return {
    name: "4-latency",
    title: "From the creation of a ResourceRequest until …",
    subtitle: `mean of ${countText(result.ours.trials.length)} trials; real broker and agents, simulated API servers (kube-sim)`,
    kind: "bars",
    x: { label: "until there is", scale: "names" },
    y: { label: "time since the request was created", unit: "ms", scale: "log" },
    series: [
      ...eachOf(result).map((each, at) =>
        series(
          each.subject,
          styles[at] ?? "fourth",
          STEPS.map((step) => pointOf(each, step)),
        ),
      ),
      series(
        THEIRS,
        "theirs",
        STEPS.map((step) => ({ x: NAMES[step], y: PUBLISHED[step] })),
      ),
    ],
    notes: ["lines: 5th to 95th percentile of the trials"],
  };
}

function pointOf(each: BrokerLatency, step: Step): Series["points"][number] {
  const times = timesOf(each, step);
  const [y, low, high] = [mean(times), percentile(times, 0.05), percentile(times, 0.95)];
  if (y === undefined || low === undefined || high === undefined) return { x: NAMES[step] };
  return { x: NAMES[step], y, low, high };
}

function tableFor(each: BrokerLatency): string {
  const { subject, trials, failures } = each;
  const rows = STEPS.map((step) => ({ ...statisticsOf(each, step), step, theirs: PUBLISHED[step] }));
  const created = withUnit(mean(trials.map((trial) => trial.created)), "ms");
  const words = `**${subject}**: ${countText(trials.length)} trials, ${countText(failures.length)} failed. The create call alone took ${created} on average: the API server's share, which is in every figure below.`;
  const table = tableOf(rows, {
    until: ({ step }) => NAMES[step],
    ...columnsOf("ms", "mean", "median", "p95", "p99", "most"),
    "published mean": ({ theirs }) => [theirs, "ms"],
    factor: (row) => factorText(row.mean, row.theirs),
  });
  return `${words}\n\n${table}`;
}

export const latencyTest = comparedTest<BrokerLatency>({
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
  expectedSeconds: { smoke: 6, quick: 12, full: 40 },
  measure,
  faults: ({ trials, failures }) => [
    ...failures.map(({ trial, problem }) => `${trial}: ${problem}`),
    trials.length === 0 && "no trial came to its end",
  ],
  report: (result) => {
    const { ours, baseline } = result;
    const total = (each: BrokerLatency): number | undefined => statisticsOf(each, "total").mean;
    return {
      charts: [chartOf(result)],
      summary: STEPS.map((step) =>
        comparedRow(`4 request created → ${NAMES[step]}, mean`, "ms", [
          statisticsOf(ours, step).mean,
          PUBLISHED[step],
        ]),
      ),
      tables: eachOf(result).map(tableFor),
      text: [
        baseline &&
          `On this machine, with the same agents, this system against the baseline: ${factorText(total(ours), total(baseline))}.`,
        "Our API servers are simulated (kube-sim) and answer faster than real ones; the predecessor's were real. What a real API server adds to each of the four writes was not measured here; it is milliseconds, not seconds. The largest part of the predecessor's time is the provider's poll, which a push replaces.",
      ],
    };
  },
});
