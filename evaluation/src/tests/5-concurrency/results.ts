import { type Chart, type Series, series, THEIRS } from "../../charts/chart.ts";
import type { Line, SummaryRow } from "../../evaluation-test.ts";
import { distributionOf, median, percentile } from "../../measure/statistics.ts";
import { PREDECESSOR } from "../../predecessor.ts";
import {
  columnsOf,
  countText,
  factorText,
  NOTHING,
  numberText,
  plainRow,
  tableOf,
} from "../../report/format.ts";
import { type Answer, NO_ANSWER } from "../subject/calls.ts";
import { eachOf, type SideBySide } from "../subject/side-by-side.ts";

/** So many requests in the same moment, again and again. */
export interface Level {
  readonly simultaneous: number;
  /** Of each round, each request. */
  readonly roundsMs: readonly (readonly number[])[];
  readonly timeouts: number;
  /** Answers that are neither a grant, nor a time-out, nor an error of the broker's own. */
  readonly refused: number;
  /** Answered with an error of its own: 5xx. Absent: of a run before these were told apart. */
  readonly failed?: number;
}

/** More requests in the same moment than there is room for. */
export interface Contest {
  readonly simultaneous: number;
  readonly room: number;
  readonly granted: number;
  readonly timeouts: number;
  readonly failed?: number;
}

/** What the ledger says of it afterwards; somebody else's broker does not show it. */
interface Recount {
  readonly acknowledged: number;
  readonly listed: number;
  /** Acknowledged, but not in the ledger. */
  readonly lost: number;
  /** The same id twice, or a cluster that lends more than it has. */
  readonly doubled: number;
}

/** Of one broker. */
export interface BrokerConcurrency {
  readonly subject: string;
  readonly lenders: number;
  readonly levels: readonly Level[];
  readonly contest: Contest;
  readonly recount?: Recount;
}

/** How many were answered in which way; every other answer is a refusal. */
export function countAnswers(answers: readonly Answer[]) {
  const count = (is: (status: number) => boolean): number =>
    answers.filter(({ status }) => is(status)).length;
  return {
    granted: count((status) => status === 201),
    timeouts: count((status) => status === NO_ANSWER),
    failed: count((status) => status >= 500),
  };
}

export function levelOf(simultaneous: number, rounds: readonly (readonly Answer[])[]): Level {
  const answers = rounds.flat();
  const { granted, timeouts, failed } = countAnswers(answers);
  return {
    simultaneous,
    roundsMs: rounds.map((round) => round.filter(({ status }) => status === 201).map(({ tookMs }) => tookMs)),
    timeouts,
    refused: answers.length - granted - timeouts - failed,
    failed,
  };
}

interface Listed {
  readonly id: string;
  readonly targetClusterID: string;
}

interface Room {
  readonly taken: (id: string) => number;
  readonly roomOf: (provider: string) => number;
}

/** Each reservation takes `taken` of what its provider has, in the same unit. */
export function recount(
  acknowledged: readonly string[],
  listed: readonly Listed[],
  { taken, roomOf }: Room,
): Recount {
  const ids = new Set(listed.map(({ id }) => id));
  const lent = new Map<string, number>();
  for (const { id, targetClusterID } of listed)
    lent.set(targetClusterID, (lent.get(targetClusterID) ?? 0) + taken(id));
  const overcommitted = [...lent].filter(([provider, amount]) => amount > roomOf(provider)).length;
  return {
    acknowledged: acknowledged.length,
    listed: listed.length,
    lost: acknowledged.filter((id) => !ids.has(id)).length,
    doubled: acknowledged.length - new Set(acknowledged).size + overcommitted,
  };
}

/** Everything that one broker did not do as it should. */
export function faultsOf({ levels, contest, recount: counted }: BrokerConcurrency): Line[] {
  const { simultaneous, room, granted } = contest;
  const places = `${simultaneous} simultaneous for ${room} places`;
  return [
    ...levels.flatMap((level) => unanswered(`${level.simultaneous} simultaneous`, level)),
    granted !== room && `${places}: ${granted} granted`,
    ...unanswered(places, { ...contest, refused: 0 }),
    ...(counted === undefined ? [] : miscounted(counted)),
  ];
}

type Unanswered = Pick<Level, "timeouts" | "refused" | "failed">;

function unanswered(at: string, { timeouts, refused, failed = 0 }: Unanswered): Line[] {
  return [
    timeouts > 0 && `${at}: ${timeouts} requests without an answer`,
    refused > 0 && `${at}: ${refused} requests were refused though there was room`,
    failed > 0 && `${at}: ${failed} requests were answered with an error of the broker (5xx)`,
  ];
}

function miscounted({ acknowledged, listed, lost, doubled }: Recount): Line[] {
  return [
    lost > 0 && `${lost} acknowledged reservations are not in the ledger`,
    doubled > 0 && `${doubled} double bookings`,
    listed !== acknowledged && `${acknowledged} were acknowledged, the ledger holds ${listed}`,
  ];
}

const PUBLISHED = PREDECESSOR.concurrency;
/** The required median and p99 in ms, by concurrency. */
const TARGETS = [
  { simultaneous: 1, median: 1, p99: 5 },
  { simultaneous: 10, median: 2, p99: Number.POSITIVE_INFINITY },
  { simultaneous: 1000, median: 100, p99: 300 },
];

/** A level at which nobody was granted anything has no figures. */
function metricsOf({ levels }: BrokerConcurrency) {
  return levels.flatMap(({ simultaneous, roundsMs }) => {
    const all = distributionOf(roundsMs.flat());
    if (all === undefined) return [];
    const medians = roundsMs.map((round) => median(round)).filter((each) => each !== undefined);
    // Medians of the fastest and the slowest tenth of the rounds: the run-to-run spread.
    const [low = all.median, high = all.median] = [percentile(medians, 0.1), percentile(medians, 0.9)];
    const theirs = PUBLISHED.find((each) => each.simultaneous === simultaneous)?.medianMs;
    return [{ ...all, simultaneous, low, high, theirs }];
  });
}

type LevelMetrics = ReturnType<typeof metricsOf>[number];

function chartOf({ ours, baseline }: SideBySide<BrokerConcurrency>): Chart {
  const metrics = metricsOf(ours);
  const medians = (levels: readonly LevelMetrics[]): Series["points"] =>
    levels.map(({ simultaneous, median: y, low, high }) => ({ x: simultaneous, y, low, high }));
  const p95 = metrics.map((level) => ({ x: level.simultaneous, y: level.p95 }));
  const published = PUBLISHED.map(({ simultaneous, medianMs }) => ({ x: simultaneous, y: medianMs }));
  return {
    name: "5-concurrency",
    title: "Requests in the same moment: how long one waits",
    subtitle: `POST /api/v1/reservations over mTLS, durable before the reply, ${countText(ours.lenders)} lending clusters`,
    kind: "lines",
    x: { label: "simultaneous requests", scale: "log" },
    y: { label: "time until the reply", unit: "ms", scale: "log" },
    series: [
      series(`${ours.subject}, median`, "ours", medians(metrics)),
      series(`${ours.subject}, 95th percentile`, "third", p95),
      ...(baseline === undefined
        ? []
        : [series(`${baseline.subject}, median`, "fourth", medians(metricsOf(baseline)))]),
      series(`${THEIRS}, median`, "theirs", published),
    ],
    notes: ["bars: 10th and 90th percentile of the rounds' medians"],
  };
}

/** Of all levels and the contest. */
function sumOf({ levels, contest }: BrokerConcurrency, field: "timeouts" | "failed"): number {
  return [...levels, contest].reduce((sum, each) => sum + (each[field] ?? 0), 0);
}

export function reportOf(result: SideBySide<BrokerConcurrency>) {
  const { ours, baseline } = result;
  const metrics = metricsOf(ours);
  return {
    charts: [chartOf(result)],
    summary: [
      ...metrics.filter(({ simultaneous }) => [1, 10, 100, 1000].includes(simultaneous)).map(summaryRow),
      plainRow(
        "5 time-outs / double bookings",
        `${sumOf(ours, "timeouts")} / ${ours.recount?.doubled ?? "not counted"}`,
      ),
    ],
    tables: eachOf(result).map(tableFor),
    text: [
      targetsText(metrics),
      baseline &&
        `On this machine, this system against the baseline: ${againstBaseline(metrics, metricsOf(baseline))}. Ours weighs ${countText(ours.lenders)} lending clusters in each decision, the baseline ${countText(baseline.lenders)}.`,
      "The predecessor measured on 96 cores and up to 10 at a time; what it timed is not described to the last detail, so a factor says which order of magnitude, not more.",
    ],
  };
}

function summaryRow({ simultaneous, median: ours, p95, theirs }: LevelMetrics): SummaryRow {
  return {
    metric: `5 ${countText(simultaneous)} simultaneous, median / p95`,
    ours: `${numberText(ours)} / ${numberText(p95)} ms`,
    theirs: theirs === undefined ? NOTHING : `${theirs} ms median`,
    factor: factorText(ours, theirs),
  };
}

function againstBaseline(levels: readonly LevelMetrics[], baseline: readonly LevelMetrics[]): string {
  return levels
    .map(({ simultaneous, median: ours }) => {
      const other = baseline.find((each) => each.simultaneous === simultaneous)?.median;
      return `${factorText(ours, other)} at ${countText(simultaneous)}`;
    })
    .join(", ");
}

function tableFor(each: BrokerConcurrency): string {
  const { subject, contest, recount: counted } = each;
  const booked =
    counted === undefined
      ? "The ledger of this broker cannot be listed: its bookings were not counted a second time."
      : `The ledger held ${countText(counted.listed)} reservations for ${countText(counted.acknowledged)} acknowledgements: ${counted.lost} lost, ${counted.doubled} double bookings.`;
  const words = `**${subject}**: ${sumOf(each, "timeouts")} time-outs, ${sumOf(each, "failed")} answers with an error of its own (5xx); the times are of grants alone. ${contest.simultaneous} clients asked in the same moment for what there was ${contest.room} times: ${contest.granted} were granted. ${booked}`;
  const table = tableOf(metricsOf(each), {
    simultaneous: (level) => level.simultaneous,
    granted: (level) => level.count,
    median: (level) => [level.median, "ms"],
    "median of rounds, 10th to 90th percentile": ({ low, high }) =>
      `${numberText(low)} to ${numberText(high)} ms`,
    ...columnsOf("ms", "p95", "p99"),
    "published median": (level) => [level.theirs, "ms"],
    factor: (level) => factorText(level.median, level.theirs),
  });
  return `${words}\n\n${table}`;
}

/** Where our own targets are missed; a loaded machine misses them, too. */
function targetsText(metrics: readonly LevelMetrics[]): string {
  const missed = TARGETS.flatMap((target) => {
    const found = metrics.filter(({ simultaneous }) => simultaneous === target.simultaneous);
    const at = `at ${countText(target.simultaneous)}`;
    const text = (what: string, value: number, most: number): string[] =>
      value <= most ? [] : [`${at} ${what} is ${numberText(value)} ms, the target ${most} ms`];
    return found.flatMap((level) => [
      ...text("the median", level.median, target.median),
      ...text("the 99th percentile", level.p99, target.p99),
    ]);
  });
  return missed.length === 0
    ? "Our own targets for 1, 10 and 1,000 at a time are met as far as they were measured."
    : `**Short of our own targets:** ${missed.join("; ")}. Load generator and broker have one core each, and whatever else runs on the machine shares them.`;
}
