import { axisText, zoneOffsetMs } from "../format/time.ts";
import { axisTicks, bandPath, linePath, roundTime } from "./scale.ts";

/** Stacked series, from the bottom up. */
export interface Band {
  readonly name: string;
  readonly title: string;
  /** Null: not known. */
  readonly values: readonly (number | null)[];
}

export interface TimeChart {
  readonly fromMs: number;
  readonly stepMs: number;
  readonly bands: readonly Band[];
  /** A limit over the bands. */
  readonly line?: Band;
  readonly format: (value: number) => string;
  readonly ticks?: (highest: number) => readonly number[];
  /** Columns for counts, areas for levels. */
  readonly shape: "area" | "columns";
}

export interface Box {
  readonly width: number;
  readonly height: number;
}

export const MARGIN = { top: 16, right: 8, bottom: 24 };
const PIXELS_PER_LETTER = 6.6;
const TICK_PADDING = 14;

export interface TimeChartView {
  readonly bands: readonly { readonly name: string; readonly title: string; readonly path: string }[];
  readonly line: string | null;
  readonly yTicks: readonly { readonly y: number; readonly text: string }[];
  readonly xTicks: readonly { readonly x: number; readonly text: string }[];
  /** Room for the marks at the side. */
  readonly left: number;
  readonly points: number;
  readonly xOf: (index: number) => number;
  readonly indexAt: (x: number) => number;
  readonly isEmpty: boolean;
}

export function timeChartView(chart: TimeChart, box: Box): TimeChartView {
  const points = chart.bands[0]?.values.length ?? 0;
  const stacked = stack(chart.bands, points);
  const ticks = (chart.ticks ?? axisTicks)(highestOf(stacked, chart.line));
  const left = TICK_PADDING + PIXELS_PER_LETTER * Math.max(...ticks.map((mark) => chart.format(mark).length));
  const inner = {
    width: Math.max(1, box.width - left - MARGIN.right),
    height: Math.max(1, box.height - MARGIN.top - MARGIN.bottom),
  };
  const top = ticks.at(-1) ?? 1;
  const slot = inner.width / Math.max(1, chart.shape === "area" ? points - 1 : points);
  const xOf = (index: number): number => left + slot * (chart.shape === "area" ? index : index + 0.5);
  const yOf = (value: number): number => MARGIN.top + inner.height * (1 - value / top);
  return {
    bands: chart.bands.map(({ name, title }, level) => ({
      name,
      title,
      path: (chart.shape === "area" ? areaOf : columnsOf)(stacked[level] ?? [], { xOf, yOf, slot }),
    })),
    line:
      chart.line === undefined
        ? null
        : linePath(
            chart.line.values.map((value, index) => (value === null ? null : [xOf(index), yOf(value)])),
          ),
    yTicks: ticks.map((value) => ({ y: yOf(value), text: chart.format(value) })),
    xTicks: timeTicks(chart, { points, xOf, width: inner.width }),
    left,
    points,
    xOf,
    indexAt: (x) =>
      Math.min(points - 1, Math.max(0, Math.round((x - left) / slot - (chart.shape === "area" ? 0 : 0.5)))),
    isEmpty: stacked.every((level) => level.every((each) => each === null || each.to === 0)),
  };
}

interface Layer {
  readonly from: number;
  readonly to: number;
}

function stack(bands: readonly Band[], points: number): (Layer | null)[][] {
  const heights = Array.from({ length: points }, () => 0);
  return bands.map(({ values }) =>
    values.map((value, index) => {
      if (value === null) return null;
      const from = heights[index] ?? 0;
      heights[index] = from + value;
      return { from, to: from + value };
    }),
  );
}

function highestOf(stacked: readonly (readonly (Layer | null)[])[], line: Band | undefined): number {
  let highest = 0;
  for (const level of stacked) for (const each of level) highest = Math.max(highest, each?.to ?? 0);
  for (const value of line?.values ?? []) highest = Math.max(highest, value ?? 0);
  return highest;
}

interface ChartScales {
  readonly xOf: (index: number) => number;
  readonly yOf: (value: number) => number;
  readonly slot: number;
}

function areaOf(layers: readonly (Layer | null)[], { xOf, yOf }: ChartScales): string {
  return bandPath(
    layers.map((layer, index) => ({
      x: xOf(index),
      top: layer === null ? null : yOf(layer.to),
      bottom: yOf(layer?.from ?? 0),
    })),
  );
}

function columnsOf(layers: readonly (Layer | null)[], { xOf, yOf, slot }: ChartScales): string {
  const half = Math.max(0.5, Math.min(10, slot * 0.4));
  return layers
    .map((layer, index) => {
      if (layer === null || layer.to === layer.from) return "";
      const [left, right] = [xOf(index) - half, xOf(index) + half];
      return bandPath([
        { x: left, top: yOf(layer.to), bottom: yOf(layer.from) },
        { x: right, top: yOf(layer.to), bottom: yOf(layer.from) },
      ]);
    })
    .join("");
}

const PIXELS_PER_TICK = 56;

/** At round times of the reader's clock, so that one need not count. */
function timeTicks(
  { fromMs, stepMs }: TimeChart,
  {
    points,
    xOf,
    width,
  }: { readonly points: number; readonly xOf: ChartScales["xOf"]; readonly width: number },
): { x: number; text: string }[] {
  const spanMs = stepMs * (points - 1);
  const everyMs = roundTime(spanMs / Math.max(2, Math.floor(width / PIXELS_PER_TICK)));
  const zoneMs = zoneOffsetMs(fromMs);
  const firstMs = Math.ceil((fromMs + zoneMs) / everyMs) * everyMs - zoneMs;
  const marks: { x: number; text: string }[] = [];
  for (let atMs = firstMs; atMs <= fromMs + spanMs; atMs += everyMs) {
    marks.push({ x: xOf((atMs - fromMs) / stepMs), text: axisText(atMs, everyMs) });
  }
  // The last one would be cut off at the edge.
  return marks.filter(({ x }) => x <= xOf(points - 1) - MARGIN.right);
}
