import type { Axis, Series } from "../../charts/chart.ts";
import type { SummaryRow } from "../../evaluation-test.ts";
import { type Fit, linearFit, logLogFit } from "../../measure/fit.ts";
import { factorText } from "../../report/factor-text.ts";
import { markdownTable } from "../../report/markdown-table.ts";
import { NOTHING, numberText, withUnit } from "../../report/number-text.ts";
import { OURS, THEIRS } from "../../report/summary.ts";
import type { Fleet } from "./staircase.ts";
import { fleetText, type StepMetric } from "./step-metrics.ts";

export type Published = readonly { readonly agents: number; readonly value: number }[];
export type MetricsByFleet = Readonly<Record<Fleet, readonly StepMetric[]>>;

export const AGENTS_AXIS: Axis = { label: "agents", scale: "linear" };
export const CLUSTERS_AXIS: Axis = { label: "agents, or protocol clients in one load process", scale: "log" };

export function oursSeries(
  metrics: readonly StepMetric[],
  label = OURS,
  style: Series["style"] = "ours",
): Series {
  return {
    label,
    style,
    points: metrics.map(({ count, value, low, high }) => ({ x: count, y: value, low, high })),
  };
}

export function theirsSeries(published: Published): Series {
  return {
    label: THEIRS,
    style: "theirs",
    points: published.map(({ agents, value }) => ({ x: agents, y: value })),
  };
}

/** Everything there is, for a chart with logarithmic axes: 0 has no place on it. */
export function growthSeries(by: MetricsByFleet, published: Published): Series[] {
  const some = (metrics: readonly StepMetric[]): StepMetric[] => metrics.filter(({ count }) => count > 0);
  return [
    oursSeries(some(by.agents), `${OURS}, real agents`),
    theirsSeries(published),
    oursSeries(some(by.clients), "protocol clients", "third"),
    oursSeries(some(by.pollers), "clients that poll", "fourth"),
  ].filter(({ points }) => points.length > 0);
}

/** Compared at the largest number that both have figures for; pollers do exactly what the predecessor's agents do. */
export function summaryRows(
  by: MetricsByFleet,
  published: Published,
  { metric, unit }: { readonly metric: string; readonly unit: string },
): SummaryRow[] {
  const compared = (["agents", "pollers"] as const).flatMap((fleet) => {
    const common = by[fleet].findLast(({ count }) => publishedAt(published, count) !== undefined);
    if (common === undefined) return [];
    const theirs = publishedAt(published, common.count);
    return [
      {
        metric: `${metric}, ${fleetText(common.count, fleet)}`,
        ours: withUnit(common.value, unit),
        theirs: withUnit(theirs, unit),
        factor: factorText(common.value, theirs),
      },
    ];
  });
  const more = by.clients.map(({ count, value }) => ({
    metric: `${metric}, ${fleetText(count, "clients")}`,
    ours: withUnit(value, unit),
    theirs: NOTHING,
    factor: NOTHING,
  }));
  return [...compared, ...more];
}

function publishedAt(published: Published, count: number): number | undefined {
  return published.find(({ agents }) => agents === count)?.value;
}

export function stepsTable(by: MetricsByFleet, published: Published, unit: string): string {
  const fleets: readonly Fleet[] = ["agents", "clients", "pollers"];
  const rows = fleets.flatMap((fleet) =>
    by[fleet].map(({ count, value, low, high }) => {
      const theirs = publishedAt(published, count);
      return [
        fleetText(count, fleet),
        withUnit(value, unit),
        `${numberText(low)}–${numberText(high)}`,
        withUnit(theirs, unit),
        factorText(value, theirs),
      ];
    }),
  );
  return markdownTable(["", OURS, "least–most", THEIRS, "better by"], rows);
}

/** How cost grows with agents, as a sentence for the chart. */
export function slopeNote(metrics: readonly StepMetric[], what: string): string[] {
  const fit = logLogFit(pointsOf(metrics));
  return fit === undefined || metrics.length < 3
    ? []
    : [`${what}: slope ${fit.slope.toFixed(2)} (log-log; 1 = in proportion), r² ${fit.r2.toFixed(3)}`];
}

/** What each agent adds. */
export function perAgent(metrics: readonly StepMetric[]): Fit | undefined {
  return linearFit(pointsOf(metrics));
}

function pointsOf(metrics: readonly StepMetric[]): { readonly x: number; readonly y: number }[] {
  return metrics.map(({ count, value }) => ({ x: count, y: value }));
}
