import { axisText, zoneOffsetMs } from "../format/time.ts";

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

export type TimeChartView = ReturnType<typeof timeChartView>;

export function timeChartView(chart: TimeChart, box: Box) {
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
    bands: chart.bands.map(({ name }, level) => ({
      name,
      path: (chart.shape === "area" ? areaOf : columnsOf)(stacked[level] ?? [], { xOf, yOf, slot }),
    })),
    line: linePath(
      (chart.line?.values ?? []).map((value, index) => (value === null ? null : [xOf(index), yOf(value)])),
    ),
    yTicks: ticks.map((value) => ({ y: yOf(value), text: chart.format(value) })),
    xTicks: timeTicks(chart, points, { xOf, width: inner.width }),
    /** Room for the marks at the side. */
    left,
    points,
    xOf,
    indexAt: (x: number) =>
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
    layers.map((layer, index) => layer && { x: xOf(index), top: yOf(layer.to), bottom: yOf(layer.from) }),
  );
}

function columnsOf(layers: readonly (Layer | null)[], { xOf, yOf, slot }: ChartScales): string {
  const half = Math.max(0.5, Math.min(10, slot * 0.4));
  const columns = layers.map((layer, index) => {
    if (layer === null || layer.to === layer.from) return "";
    const edges = { top: yOf(layer.to), bottom: yOf(layer.from) };
    return bandPath([
      { x: xOf(index) - half, ...edges },
      { x: xOf(index) + half, ...edges },
    ]);
  });
  return columns.join("");
}

const PIXELS_PER_TICK = 56;

/** At round times of the reader's clock, so that one need not count. */
function timeTicks(
  { fromMs, stepMs }: TimeChart,
  points: number,
  { xOf, width }: { readonly xOf: ChartScales["xOf"]; readonly width: number },
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

const WANTED_TICKS = 4;

/** Marks of an axis from 0: few, at round numbers, the last at or above the highest value. */
export function axisTicks(highest: number): readonly number[] {
  if (!(highest > 0)) return [0, 1];
  const step = roundStep(highest / WANTED_TICKS);
  const marks = Math.ceil(highest / step - 1e-9);
  return Array.from({ length: marks + 1 }, (_, index) => index * step);
}

/** Bytes are read in powers of two: 256 GiB, not 274.9 GB. */
export function binaryTicks(highest: number): readonly number[] {
  if (!(highest > 0)) return [0, 1];
  const unit = 1024 ** Math.floor(Math.log2(highest) / 10);
  return axisTicks(highest / unit).map((mark) => mark * unit);
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((each) => each * power >= rough - 1e-12) ?? 10;
  return step * power;
}

const MINUTES = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440];

/** The next step of a clock that is at least this long: 5 minutes, 3 hours, a day. */
function roundTime(roughMs: number): number {
  const minutes = MINUTES.find((each) => each * 60_000 >= roughMs) ?? Math.ceil(roughMs / 86_400_000) * 1440;
  return minutes * 60_000;
}

type Point = readonly [x: number, y: number];

/** A line through the points that are there; it breaks where one is missing. */
export function linePath(points: readonly (Point | null)[]): string {
  return withoutGaps(points)
    .map((piece) => `M${drawn(piece)}`)
    .join("");
}

interface Edges {
  readonly x: number;
  readonly top: number;
  readonly bottom: number;
}

/** The area between two lines, in as many pieces as there are without a gap. */
export function bandPath(points: readonly (Edges | null)[]): string {
  const around = (piece: readonly Edges[]): Point[] => [
    ...piece.map(({ x, top }): Point => [x, top]),
    ...piece.toReversed().map(({ x, bottom }): Point => [x, bottom]),
  ];
  return withoutGaps(points)
    .map((piece) => `M${drawn(around(piece))}Z`)
    .join("");
}

function withoutGaps<T>(points: readonly (T | null)[]): T[][] {
  const pieces: T[][] = [[]];
  for (const point of points) {
    if (point === null) pieces.push([]);
    else pieces.at(-1)?.push(point);
  }
  return pieces.filter((piece) => piece.length > 0);
}

function drawn(points: readonly Point[]): string {
  return points.map(([x, y]) => `${round(x)} ${round(y)}`).join("L");
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
