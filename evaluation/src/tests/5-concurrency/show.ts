import type { Chart, Series } from "../../charts/chart.ts";
import type { Findings, SummaryRow } from "../../evaluation-test.ts";
import { median, percentile } from "../../measure/statistics.ts";
import { PREDECESSOR } from "../../predecessor.ts";
import {
  countText,
  factorText,
  markdownTable,
  NOTHING,
  numberText,
  plainRow,
  withUnit,
} from "../../report/format.ts";
import { baselineText, eachOf, type SideBySide } from "../subject/side-by-side.ts";
import { type BrokerConcurrency, faultsOf } from "./results.ts";

const THEIRS = PREDECESSOR.concurrency;
/** The required median and p99 in ms, by concurrency. */
const TARGETS = [
  { simultaneous: 1, median: 1, p99: 5 },
  { simultaneous: 10, median: 2, p99: undefined },
  { simultaneous: 1000, median: 100, p99: 300 },
];

const theirMedian = (simultaneous: number): number | undefined =>
  THEIRS.find((each) => each.simultaneous === simultaneous)?.medianMs;

export function chartsOf({ ours, baseline }: SideBySide<BrokerConcurrency>): readonly Chart[] {
  const metrics = allMetrics(ours);
  return [
    {
      name: "5-concurrency",
      title: "Requests in the same moment: how long one waits",
      subtitle: `POST /api/v1/reservations over mTLS, durable before the reply, ${countText(ours.lenders)} lending clusters`,
      kind: "lines",
      x: { label: "simultaneous requests", scale: "log" },
      y: { label: "time until the reply", unit: "ms", scale: "log" },
      series: [
        { label: `${ours.subject}, median`, style: "ours", points: medians(metrics) },
        {
          label: `${ours.subject}, 95th percentile`,
          style: "third",
          points: metrics.map(({ simultaneous, p95 }) => ({ x: simultaneous, y: p95 })),
        },
        ...(baseline === undefined
          ? []
          : [
              {
                label: `${baseline.subject}, median`,
                style: "fourth",
                points: medians(allMetrics(baseline)),
              } as const,
            ]),
        {
          label: "Go thesis, 2026, published, median",
          style: "theirs",
          points: THEIRS.map(({ simultaneous, medianMs }) => ({ x: simultaneous, y: medianMs })),
        },
      ],
      notes: ["bars: 10th and 90th percentile of the rounds' medians"],
    },
  ];
}

interface LevelMetrics {
  readonly simultaneous: number;
  readonly requests: number;
  readonly median: number;
  readonly p95: number;
  readonly p99: number;
  /** Medians of the fastest and the slowest tenth of the rounds: the run-to-run spread. */
  readonly low: number;
  readonly high: number;
}

/** A level at which nobody was granted anything has no figures. */
function allMetrics({ levels }: BrokerConcurrency): LevelMetrics[] {
  return levels.flatMap(({ simultaneous, roundsMs }) => {
    const all = roundsMs.flat();
    const medians = roundsMs.map((round) => median(round)).filter((each) => each !== undefined);
    const [mid, p95, p99] = [median(all), percentile(all, 0.95), percentile(all, 0.99)];
    if (mid === undefined || p95 === undefined || p99 === undefined) return [];
    const [low = mid, high = mid] = [percentile(medians, 0.1), percentile(medians, 0.9)];
    return [{ simultaneous, requests: all.length, median: mid, p95, p99, low, high }];
  });
}

function medians(metrics: readonly LevelMetrics[]): Series["points"] {
  return metrics.map(({ simultaneous, median: y, low, high }) => ({ x: simultaneous, y, low, high }));
}

export function findingsOf(result: SideBySide<BrokerConcurrency>): Findings {
  const { ours, baseline } = result;
  const metrics = allMetrics(ours);
  return {
    summary: summaryOf(metrics, ours),
    text: [
      ...eachOf(result).flatMap((each) => [textOf(each), ""]),
      ...baselineText(result, faultsOf),
      ...shortfalls(metrics),
      ...(baseline === undefined
        ? []
        : [
            `On this machine, this system against the baseline: ${againstBaseline(metrics, allMetrics(baseline))}. Ours weighs ${countText(ours.lenders)} lending clusters in each decision, the baseline ${countText(baseline.lenders)}.`,
            "",
          ]),
      "The predecessor measured on 96 cores and up to 10 at a time; what it timed is not described to the last detail, so a factor says which order of magnitude, not more.",
    ].join("\n"),
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

function textOf(each: BrokerConcurrency): string {
  const { subject, levels, contest, recount } = each;
  const timeouts = levels.reduce((sum, level) => sum + level.timeouts, contest.timeouts);
  const failed = levels.reduce((sum, level) => sum + (level.failed ?? 0), contest.failed ?? 0);
  const table = markdownTable(
    [
      "simultaneous",
      "granted",
      "median",
      "median of rounds, 10th to 90th percentile",
      "p95",
      "p99",
      "published median",
      "factor",
    ],
    allMetrics(each).map((level) => [
      countText(level.simultaneous),
      countText(level.requests),
      withUnit(level.median, "ms"),
      `${numberText(level.low)} to ${numberText(level.high)} ms`,
      withUnit(level.p95, "ms"),
      withUnit(level.p99, "ms"),
      withUnit(theirMedian(level.simultaneous), "ms"),
      factorText(level.median, theirMedian(level.simultaneous)),
    ]),
  );
  const booked =
    recount === undefined
      ? "The ledger of this broker cannot be listed: its bookings were not counted a second time."
      : `The ledger held ${countText(recount.listed)} reservations for ${countText(recount.acknowledged)} acknowledgements: ${recount.lost} lost, ${recount.doubled} double bookings.`;
  return [
    `**${subject}**: ${timeouts} time-outs, ${failed} answers with an error of its own (5xx); the times are of grants alone. ${contest.simultaneous} clients asked in the same moment for what there was ${contest.room} times: ${contest.granted} were granted. ${booked}`,
    "",
    table,
  ].join("\n");
}

function summaryOf(
  metrics: readonly LevelMetrics[],
  { levels, contest, recount }: BrokerConcurrency,
): SummaryRow[] {
  const timeouts = levels.reduce((sum, level) => sum + level.timeouts, contest.timeouts);
  const rows = metrics
    .filter(({ simultaneous }) => [1, 10, 100, 1000].includes(simultaneous))
    .map(
      ({ simultaneous, median: ours, p95 }): SummaryRow => ({
        metric: `5 ${countText(simultaneous)} simultaneous, median / p95`,
        ours: `${numberText(ours)} / ${numberText(p95)} ms`,
        theirs: theirMedian(simultaneous) === undefined ? NOTHING : `${theirMedian(simultaneous)} ms median`,
        factor: factorText(ours, theirMedian(simultaneous)),
      }),
    );
  const doubled = recount === undefined ? "not counted" : String(recount.doubled);
  return [...rows, plainRow("5 time-outs / double bookings", `${timeouts} / ${doubled}`)];
}

/** Where our own targets are missed; a loaded machine misses them, too. */
function shortfalls(metrics: readonly LevelMetrics[]): string[] {
  const missed = TARGETS.flatMap((target) => {
    const found = metrics.find(({ simultaneous }) => simultaneous === target.simultaneous);
    const figures = [
      ["the median", found?.median, target.median],
      ["the 99th percentile", found?.p99, target.p99],
    ] as const;
    return figures.flatMap(([what, value, most]) =>
      value === undefined || most === undefined || value <= most
        ? []
        : [`at ${countText(target.simultaneous)} ${what} is ${numberText(value)} ms, the target ${most} ms`],
    );
  });
  return missed.length === 0
    ? ["Our own targets for 1, 10 and 1,000 at a time are met as far as they were measured.", ""]
    : [
        `**Short of our own targets:** ${missed.join("; ")}. Load generator and broker have one core each, and whatever else runs on the machine shares them.`,
        "",
      ];
}
