import { valueText } from "../report/number-text.ts";
import type { Chart, Series } from "./chart.ts";
import { whisker } from "./draw-lines.ts";
import { drawXTitle, drawYAxis, PLOT, wrapText } from "./frame.ts";
import { linearScale, logBarScale, type Scale } from "./scale.ts";
import { SERIES_STYLES } from "./series-styles.ts";
import { element, INK, type Svg, text, textWidth } from "./svg.ts";

type Point = Series["points"][number];

const GROUP_SHARE = 0.72;
const WIDEST_BAR = 110;
const LABEL_SIZE = 12;
const SMALLEST_LABEL = 9;

/** Bars beside each other, or on top of each other, one group for each x. */
export function drawBars({ kind, x, y, series }: Chart): Svg[] {
  const names = [...new Set(series.flatMap(({ points }) => points.map((point) => String(point.x))))];
  const isStacked = kind === "stacked-bars";
  const tops = isStacked
    ? names.map((name) => totalOf(series, name))
    : series.flatMap(({ points }) => points.flatMap((point) => [point.y ?? 0, point.high ?? 0]));
  const range = { from: PLOT.bottom, to: PLOT.top + 14 };
  const up = y.scale === "log" && !isStacked ? logBarScale(tops, range) : linearScale(tops, range);
  const step = (PLOT.right - PLOT.left) / Math.max(1, names.length);
  const groups = names.map((name, index) => ({ name, middle: PLOT.left + step * (index + 0.5) }));
  const draw = isStacked ? drawStack : drawGroup;
  return [
    ...drawYAxis(y, up),
    element("path", { d: `M${PLOT.left},${PLOT.bottom} H${PLOT.right}`, stroke: INK, "stroke-width": 1.2 }),
    ...groups.flatMap((group) => [
      ...drawName(group, step),
      ...draw({ ...group, width: step * GROUP_SHARE, series, up }),
    ]),
    drawXTitle(x),
  ];
}

interface Group {
  readonly name: string;
  readonly middle: number;
  readonly width: number;
  readonly series: readonly Series[];
  readonly up: Scale;
}

function drawName({ name, middle }: Pick<Group, "name" | "middle">, step: number): Svg[] {
  return wrapText(name, step / textWidth("m", 13))
    .slice(0, 2)
    .map((line, at) => text(middle, PLOT.bottom + 19 + 15 * at, [line, { anchor: "middle" }]));
}

function drawGroup({ name, middle, width, series, up }: Group): Svg[] {
  const each = Math.min(WIDEST_BAR, width / series.length);
  const from = middle - (each * series.length) / 2;
  return series.flatMap((one, index) => {
    const point = pointAt(one, name);
    const top = point?.y === undefined ? undefined : up.place(point.y);
    if (point?.y === undefined || top === undefined) return [];
    const left = from + each * index + each * 0.04;
    const bar = drawBar({ left, width: each * 0.92, top, bottom: PLOT.bottom, look: one.style });
    const spread = spreadOf(point, up);
    const highest = Math.min(top, spread?.to ?? top);
    return [
      bar,
      ...(spread === undefined ? [] : [whisker(left + each * 0.46, { ...spread, colour: INK })]),
      ...valueLabel(valueText(point.y), { middle: left + each * 0.46, bottom: highest - 5, width: each }),
    ];
  });
}

function drawStack({ name, middle, width, series, up }: Group): Svg[] {
  const bar = Math.min(WIDEST_BAR, width);
  const drawn: Svg[] = [];
  let sum = 0;
  for (const one of series) {
    const value = pointAt(one, name)?.y ?? 0;
    const [bottom, top] = [up.place(sum), up.place(sum + value)];
    sum += value;
    if (value <= 0 || bottom === undefined || top === undefined) continue;
    drawn.push(drawBar({ left: middle - bar / 2, width: bar, top, bottom, look: one.style }));
  }
  const highest = up.place(sum) ?? PLOT.bottom;
  return [...drawn, ...valueLabel(valueText(sum), { middle, bottom: highest - 5, width })];
}

interface Bar {
  readonly left: number;
  readonly width: number;
  readonly top: number;
  readonly bottom: number;
  readonly look: Series["style"];
}

function drawBar({ left, width, top, bottom, look: style }: Bar): Svg {
  const { colour, fill } = SERIES_STYLES[style];
  const height = Math.max(1, bottom - top);
  return element("rect", {
    x: left,
    y: bottom - height,
    width,
    height,
    fill,
    stroke: colour,
    "stroke-width": 1.5,
  });
}

/** Smaller where there is little room; left out where it could not be read. */
function valueLabel(
  content: string,
  { middle, bottom, width }: { readonly middle: number; readonly bottom: number; readonly width: number },
): Svg[] {
  const size = Math.min(LABEL_SIZE, (LABEL_SIZE * (width + 1)) / textWidth(content, LABEL_SIZE));
  return size < SMALLEST_LABEL
    ? []
    : [text(middle, bottom, [content, { size, anchor: "middle", hasOutline: true }])];
}

function spreadOf(
  { low, high }: Point,
  up: Scale,
): { readonly from: number; readonly to: number } | undefined {
  const [from, to] = [low, high].map((value) => (value === undefined ? undefined : up.place(value)));
  return from === undefined || to === undefined ? undefined : { from, to };
}

function pointAt({ points }: Series, name: string): Point | undefined {
  return points.find((point) => String(point.x) === name);
}

function totalOf(series: readonly Series[], name: string): number {
  return series.reduce((sum, one) => sum + (pointAt(one, name)?.y ?? 0), 0);
}
