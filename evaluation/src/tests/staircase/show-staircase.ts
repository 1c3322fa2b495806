import type { Axis, Series } from "../../charts/chart.ts";
import type { SummaryRow } from "../../evaluation-test.ts";
import { type Fit, linearFit, logLogFit } from "../../measure/fit.ts";
import { factorText } from "../../report/factor-text.ts";
import { markdownTable } from "../../report/markdown-table.ts";
import { NOTHING, numberText, withUnit } from "../../report/number-text.ts";
import { OURS, THEIRS } from "../../report/summary.ts";
import type { Fleet } from "./staircase.ts";
import { fleetText, type StepFigure } from "./step-figures.ts";

export type Published = readonly { readonly agents: number; readonly value: number }[];
export type FiguresByFleet = Readonly<Record<Fleet, readonly StepFigure[]>>;

export const AGENTS_AXIS: Axis = { label: "agents", scale: "linear" };
export const CLUSTERS_AXIS: Axis = { label: "agents, or protocol clients in one load process", scale: "log" };

export function oursSeries(
  figures: readonly StepFigure[],
  label = OURS,
  look: Series["look"] = "ours",
): Series {
  return {
    label,
    look,
    points: figures.map(({ count, value, low, high }) => ({ x: count, y: value, low, high })),
  };
}

export function theirsSeries(published: Published): Series {
  return {
    label: THEIRS,
    look: "theirs",
    points: published.map(({ agents, value }) => ({ x: agents, y: value })),
  };
}

/** Everything there is, for a chart with logarithmic axes: 0 has no place on it. */
export function growthSeries(by: FiguresByFleet, published: Published): Series[] {
  const some = (figures: readonly StepFigure[]): StepFigure[] => figures.filter(({ count }) => count > 0);
  return [
    oursSeries(some(by.agents), `${OURS}, real agents`),
    theirsSeries(published),
    oursSeries(some(by.clients), "protocol clients", "third"),
    oursSeries(some(by.pollers), "clients that poll", "fourth"),
  ].filter(({ points }) => points.length > 0);
}

/** Compared at the largest number that both have figures for; pollers do exactly what the predecessor's agents do. */
export function summaryRows(
  by: FiguresByFleet,
  published: Published,
  { figure, unit }: { readonly figure: string; readonly unit: string },
): SummaryRow[] {
  const compared = (["agents", "pollers"] as const).flatMap((fleet) => {
    const common = by[fleet].findLast(({ count }) => publishedAt(published, count) !== undefined);
    if (common === undefined) return [];
    const theirs = publishedAt(published, common.count);
    return [
      {
        figure: `${figure}, ${fleetText(common.count, fleet)}`,
        ours: withUnit(common.value, unit),
        theirs: withUnit(theirs, unit),
        factor: factorText(common.value, theirs),
      },
    ];
  });
  const more = by.clients.map(({ count, value }) => ({
    figure: `${figure}, ${fleetText(count, "clients")}`,
    ours: withUnit(value, unit),
    theirs: NOTHING,
    factor: NOTHING,
  }));
  return [...compared, ...more];
}

function publishedAt(published: Published, count: number): number | undefined {
  return published.find(({ agents }) => agents === count)?.value;
}

export function stepsTable(by: FiguresByFleet, published: Published, unit: string): string {
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
export function slopeNote(figures: readonly StepFigure[], what: string): string[] {
  const fit = logLogFit(pointsOf(figures));
  return fit === undefined || figures.length < 3
    ? []
    : [`${what}: slope ${fit.slope.toFixed(2)} (log-log; 1 = in proportion), r² ${fit.r2.toFixed(3)}`];
}

/** What each agent adds. */
export function perAgent(figures: readonly StepFigure[]): Fit | undefined {
  return linearFit(pointsOf(figures));
}

function pointsOf(figures: readonly StepFigure[]): { readonly x: number; readonly y: number }[] {
  return figures.map(({ count, value }) => ({ x: count, y: value }));
}
