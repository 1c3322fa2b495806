import { valueText } from "../report/number-text.ts";
import type { Axis, Chart, Series } from "./chart.ts";
import { drawXAxis, drawYAxis, PLOT } from "./frame.ts";
import { linearScale, logScale, type Range, type Scale } from "./scale.ts";
import { SERIES_STYLES } from "./series-styles.ts";
import { element, type Svg, text } from "./svg.ts";

/** Markers would touch each other, and hide the line, where there are more points than this. */
const MOST_MARKERS = 60;
const INSET = 18;

export function drawLines({ x, y, series }: Chart): Svg[] {
  const points = series.flatMap((each) => each.points);
  const across = xScale(x, points);
  const heights = points.flatMap(({ y: height, low, high }) => [height, low, high]);
  const up = scaleOf(
    y,
    heights.filter((value) => value !== undefined),
    { from: PLOT.bottom, to: PLOT.top },
  );
  // Ours last: on top where lines cross.
  const inOrder = series.toSorted((a, b) => Number(a.style === "ours") - Number(b.style === "ours"));
  return [
    ...drawYAxis(y, up),
    ...drawXAxis(x, across.ticks),
    ...inOrder.flatMap((each) => drawSeries(each, across, up)),
    ...drawLastValues(inOrder.toReversed(), across, up),
  ];
}

/** What a line comes to, at its end; left out where it would cover another's. */
function drawLastValues(series: readonly Series[], across: XScale, up: Scale): Svg[] {
  const taken: { readonly left: number; readonly top: number }[] = [];
  return series.flatMap(({ points }) => {
    const last = points.findLast(({ y }) => y !== undefined);
    if (last?.y === undefined) return [];
    const [left, top] = [across.place(last.x), up.place(last.y)];
    // At the very top the axis says it, and the legend is near.
    if (left === undefined || top === undefined || top < PLOT.top + 2) return [];
    if (taken.some((other) => Math.abs(other.left - left) < 70 && Math.abs(other.top - top) < 18)) return [];
    taken.push({ left, top });
    const place = { x: Math.min(left, PLOT.right - 22), y: top < PLOT.top + 12 ? top + 22 : top - 12 };
    return [
      text(place.x, place.y, [valueText(last.y), { anchor: "middle", weight: "bold", hasOutline: true }]),
    ];
  });
}

interface XScale extends Pick<Scale, "ticks"> {
  readonly place: (value: number | string) => number | undefined;
}

function scaleOf({ scale }: Axis, values: readonly number[], range: Range): Scale {
  return scale === "log" ? logScale(values, range) : linearScale(values, range);
}

function xScale(axis: Axis, points: Series["points"]): XScale {
  const range = { from: PLOT.left + INSET, to: PLOT.right - INSET };
  if (axis.scale !== "names") {
    const numbers = points.map(({ x }) => x).filter((value) => typeof value === "number");
    const { place, ticks } = scaleOf(axis, numbers, range);
    return { ticks, place: (value) => (typeof value === "number" ? place(value) : undefined) };
  }
  const names = [...new Set(points.map(({ x }) => String(x)))];
  const step = (range.to - range.from) / Math.max(1, names.length);
  const at = (index: number): number => range.from + step * (index + 0.5);
  const place = (value: number | string): number | undefined => {
    const index = names.indexOf(String(value));
    return index === -1 ? undefined : at(index);
  };
  return { place, ticks: names.map((label, index) => ({ at: at(index), label })) };
}

function drawSeries({ style, points }: Series, across: XScale, up: Scale): Svg[] {
  const { colour, width, dashes, marker } = SERIES_STYLES[style];
  const placed = points.map((point) => {
    const [left, top] = [across.place(point.x), point.y === undefined ? undefined : up.place(point.y)];
    return left === undefined || top === undefined ? undefined : { left, top, point };
  });
  const seen = placed.filter((each) => each !== undefined);
  const spread = seen.flatMap(({ left, point }) => drawSpread(left, point, { up, colour }));
  const line = element("path", {
    d: pathThrough(placed),
    fill: "none",
    stroke: colour,
    "stroke-width": width,
    "stroke-dasharray": dashes,
    "stroke-linejoin": "round",
  });
  const markers = seen.length > MOST_MARKERS ? [] : seen.map(({ left, top }) => marker(left, top));
  return [...spread, line, ...markers];
}

/** A missing point is a gap. */
function pathThrough(
  placed: readonly ({ readonly left: number; readonly top: number } | undefined)[],
): string {
  let isPenUp = true;
  return placed
    .map((each) => {
      if (each === undefined) {
        isPenUp = true;
        return "";
      }
      const command = isPenUp ? "M" : "L";
      isPenUp = false;
      return `${command}${each.left.toFixed(1)},${each.top.toFixed(1)}`;
    })
    .join(" ");
}

interface Whiskers {
  readonly up: Scale;
  readonly colour: string;
}

function drawSpread(left: number, { low, high }: Series["points"][number], { up, colour }: Whiskers): Svg[] {
  const [from, to] = [low, high].map((value) => (value === undefined ? undefined : up.place(value)));
  return from === undefined || to === undefined ? [] : [whisker(left, { from, to, colour })];
}

/** With a white edge, to be seen on a dark bar. */
export function whisker(
  x: number,
  { from, to, colour }: { readonly from: number; readonly to: number; readonly colour: string },
): Svg {
  const [left, right] = [x - 5, x + 5].map((value) => value.toFixed(1));
  const [low, high] = [from, to].map((value) => value.toFixed(1));
  const d = `M${x.toFixed(1)},${low} V${high} M${left},${low} H${right} M${left},${high} H${right}`;
  return element("g", { fill: "none" }, [
    element("path", { d, stroke: "#fff", "stroke-width": 3.5 }),
    element("path", { d, stroke: colour, "stroke-width": 1.5 }),
  ]);
}
