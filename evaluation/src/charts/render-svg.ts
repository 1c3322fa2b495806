import { fileURLToPath } from "node:url";
import * as Plot from "@observablehq/plot";
import { Resvg } from "@resvg/resvg-js";
import { Window } from "happy-dom";
import { countText, valueText } from "../report/format.ts";
import type { Axis, Chart, Series } from "./chart.ts";

const WIDTH = 960;
const PLOT_TOP = 112;
const PLOT_HEIGHT = 428;
const LINE_HEIGHT = 20;
/** Markers would touch each other, and hide the line, where there are more points than this. */
const MOST_MARKERS = 60;
const SOFT_INK = "#57606a";
const FONT = "DejaVu Sans, Verdana, sans-serif";

interface SeriesStyle {
  /** Each is as dark as no other, so that they can be told apart in grey. */
  readonly colour: string;
  readonly width: number;
  readonly dashes: string;
  readonly symbol: "circle" | "square" | "triangle" | "diamond";
  /** Of bars: a pattern of its own each. */
  readonly fill: string;
}

const STYLES: Readonly<Record<Series["style"], SeriesStyle>> = {
  ours: { colour: "#0a3069", width: 3, dashes: "none", symbol: "circle", fill: "#0a3069" },
  theirs: { colour: "#bc4c00", width: 2, dashes: "8 5", symbol: "square", fill: "url(#hatched)" },
  third: { colour: "#2da44e", width: 2.5, dashes: "2 4", symbol: "triangle", fill: "url(#dotted)" },
  fourth: { colour: "#8250df", width: 2, dashes: "12 4 2 4", symbol: "diamond", fill: "#f3effc" },
};

/** The fills that are no plain colour. */
const PATTERNS = `<defs><pattern id="hatched" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" fill="#fff"/><path d="M-2,2 L2,-2 M0,8 L8,0 M6,10 L10,6" stroke="#bc4c00" stroke-width="2.2"/></pattern><pattern id="dotted" width="7" height="7" patternUnits="userSpaceOnUse"><rect width="7" height="7" fill="#fff"/><circle cx="3.5" cy="3.5" r="2" fill="#2da44e"/></pattern></defs>`;

interface Datum {
  readonly series: string;
  readonly x: number | string;
  readonly y: number;
  readonly low?: number;
  readonly high?: number;
}

/** The whole chart as an SVG document: the same data, the same bytes. */
export function renderSvg(chart: Chart): string {
  const { title, subtitle, series, notes = [] } = chart;
  const { document, SVGElement } = new Window();
  const drawn: unknown = Plot.plot({
    ...(chart.kind === "lines" ? lines(chart) : bars(chart)),
    document,
    width: WIDTH,
    height: PLOT_HEIGHT,
    marginLeft: 84,
    marginBottom: 52,
    marginRight: 30,
    marginTop: 24,
    style: { fontSize: "13px", fontFamily: FONT },
  });
  if (!(drawn instanceof SVGElement)) throw new Error(`${title}: Plot made no picture`);
  // It is placed inside another one, and the style sheet would hide that from programs that draw no HTML.
  drawn.querySelector("style")?.remove();
  drawn.removeAttribute("class");
  drawn.setAttribute("y", String(PLOT_TOP));
  const height = PLOT_TOP + PLOT_HEIGHT + LINE_HEIGHT * notes.length + 12;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-family="${FONT}">`,
    `<title>${escaped(title)}</title><desc>${escaped(subtitle)}</desc>${PATTERNS}`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    text([24, 36], `font-size="21" font-weight="bold"`, title),
    ...wrapped(subtitle).map((line, at) =>
      text([24, 58 + 17 * at], `font-size="13" fill="${SOFT_INK}"`, line),
    ),
    ...legend(series),
    drawn.outerHTML,
    ...notes.map((note, at) =>
      text(
        [24, PLOT_TOP + PLOT_HEIGHT + LINE_HEIGHT * (at + 0.6)],
        `font-size="13" fill="${SOFT_INK}"`,
        note,
      ),
    ),
    "</svg>",
  ].join("\n")}\n`;
}

function lines({ x, y, series }: Chart): Plot.PlotOptions {
  // Ours last: on top where lines cross.
  const inOrder = series.toSorted((a, b) => Number(a.style === "ours") - Number(b.style === "ours"));
  return {
    x: axis(x, numbers(series, "x")),
    y: { ...axis(y, numbers(series, "y", "low", "high")), grid: true },
    marks: inOrder.flatMap((each) => lineMarks(each)),
  };
}

function lineMarks({ label, style, points }: Series): Plot.Markish[] {
  const { colour, width, dashes, symbol } = STYLES[style];
  const seen = data({ label, style, points });
  // A missing point is a gap in the line.
  const all = points.map(({ x, y }) => ({ x, y: y ?? Number.NaN }));
  const last = seen.at(-1);
  return [
    spread(seen, { x: "x" }, colour),
    Plot.line(all, { x: "x", y: "y", stroke: colour, strokeWidth: width, strokeDasharray: dashes }),
    ...(seen.length > MOST_MARKERS ? [] : [Plot.dot(seen, { x: "x", y: "y", symbol, fill: colour, r: 4.5 })]),
    ...(last === undefined ? [] : [valueLabels([last], { x: "x", y: "y" }, ({ y }) => y)]),
  ];
}

/** Bars beside each other, or on top of each other, one group for each x. */
function bars({ kind, x, y, series }: Chart): Plot.PlotOptions {
  const each = series.flatMap((one) => data(one));
  const colour = { domain: series.map(({ label }) => label), range: fills(series) };
  const look = { fill: "series", stroke: "#24292f" };
  if (kind === "stacked-bars") {
    const sums = [...new Set(each.map((datum) => datum.x))].map((at) => ({
      x: at,
      y: each.reduce((sum, datum) => sum + (datum.x === at ? datum.y : 0), 0),
      series: "",
    }));
    return {
      x: { label: titleOf(x), padding: 0.35 },
      y: { ...axis({ ...y, scale: "linear" }, [0, ...sums.map((sum) => sum.y)]), grid: true },
      color: colour,
      marks: [
        Plot.barY(each, { x: "x", y: "y", ...look }),
        valueLabels(sums, { x: "x", y: "y" }, (sum) => sum.y),
      ],
    };
  }
  const tops = numbers(series, "y", "low", "high");
  // The shortest bar on a logarithmic axis has a height, so that it is seen.
  const least = y.scale === "log" ? Math.min(...tops.filter((top) => top > 0)) / 1.5 : 0;
  const scale = axis(y, [...tops, least]);
  return {
    fx: { label: titleOf(x), domain: [...new Set(each.map((datum) => datum.x))], padding: 0.2 },
    x: { axis: null, domain: colour.domain },
    y: { ...scale, grid: true },
    color: colour,
    marks: [
      Plot.barY(each, { fx: "x", x: "series", y1: () => scale.domain?.[0] ?? 0, y2: "y", ...look }),
      spread(each, { fx: "x", x: "series" }, "#24292f"),
      valueLabels(
        each,
        { fx: "x", x: "series", y: (datum: Datum) => datum.high ?? datum.y },
        ({ y: top }) => top,
      ),
    ],
  };
}

function fills(series: readonly Series[]): string[] {
  return series.map(({ style }) => STYLES[style].fill);
}

function data({ label, points }: Series): Datum[] {
  return points.flatMap(({ y, ...point }) => (y === undefined ? [] : [{ series: label, y, ...point }]));
}

/** With a white edge, to be seen on a dark bar. */
function spread(all: readonly Datum[], place: { x: string; fx?: string }, colour: string): Plot.Markish {
  const some = all.filter(({ low, high }) => low !== undefined && high !== undefined);
  const at = { ...place, y1: "low", y2: "high" };
  return [
    Plot.ruleX(some, { ...at, stroke: "#fff", strokeWidth: 3.5 }),
    Plot.ruleX(some, { ...at, stroke: colour, strokeWidth: 1.5 }),
  ];
}

function valueLabels(
  all: readonly Datum[],
  at: Plot.TextOptions,
  value: (datum: Datum) => number,
): Plot.Markish {
  const label = (datum: Datum): string => valueText(value(datum));
  return Plot.text(all, { ...at, text: label, dy: -11, fontWeight: "bold", stroke: "#fff", fill: "#24292f" });
}

/** Linear axes begin at 0; logarithmic ones span at least ten times, so that a difference does not look larger than it is. */
function axis(
  { label, unit, scale }: Axis,
  values: readonly number[],
): Plot.ScaleOptions & { domain?: [number, number] } {
  const common = {
    label: titleOf({ label, scale, ...(unit === undefined ? {} : { unit }) }),
    labelAnchor: "center",
    labelArrow: "none",
  } as const;
  if (scale === "names") return { ...common, type: "point", padding: 0.5 };
  const tickFormat = (value: number): string =>
    value >= 100 || Number.isInteger(value) ? countText(value) : valueText(value);
  if (scale === "linear") {
    return {
      ...common,
      type: "linear",
      domain: [0, Math.max(...values, 0) || 1],
      nice: true,
      ticks: 6,
      tickFormat,
    };
  }
  const positive = values.filter((value) => value > 0);
  const low = 10 ** Math.floor(Math.log10(Math.min(...positive, 1e12)));
  return {
    ...common,
    type: "log",
    domain: [low, Math.max(low * 10, ...positive)],
    nice: true,
    ticks: 6,
    tickFormat,
  };
}

function titleOf({ label, unit }: Axis): string {
  return unit === undefined ? label : `${label} (${unit})`;
}

function numbers(series: readonly Series[], ...fields: readonly ("x" | "y" | "low" | "high")[]): number[] {
  return series
    .flatMap(({ points }) => points.flatMap((point) => fields.map((field) => point[field])))
    .filter((value) => typeof value === "number");
}

function legend(series: readonly Series[]): string[] {
  let x = 84;
  return series.flatMap(({ label, style }) => {
    const { colour, fill } = STYLES[style];
    const from = x;
    x += 34 + label.length * 8.4 + 24;
    const box = `<rect x="${from}" y="94" width="24" height="14" fill="${fill}" stroke="${colour}" stroke-width="1.5"/>`;
    return [box, text([from + 32, 106], `font-size="13"`, label)];
  });
}

/** At most two lines. */
function wrapped(content: string): string[] {
  const most = 118;
  if (content.length <= most) return [content];
  const at = content.lastIndexOf(" ", most);
  return [content.slice(0, at), content.slice(at + 1)];
}

function text([x, y]: readonly [number, number], attributes: string, content: string): string {
  return `<text x="${x}" y="${y}" ${attributes}>${escaped(content)}</text>`;
}

function escaped(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const FONT_FILES = [
  import.meta.resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf"),
  import.meta.resolve("dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf"),
].map((url) => fileURLToPath(url));
/** Sharp on screens with two dots for each pixel. */
const SCALE = 2;

/** The same picture everywhere: it is drawn with font files that come with npm, never with those of the machine. */
export function renderPng(svg: string): Uint8Array {
  const drawing = new Resvg(svg, {
    fitTo: { mode: "zoom", value: SCALE },
    font: { fontFiles: FONT_FILES, loadSystemFonts: false, defaultFontFamily: "DejaVu Sans" },
  });
  return drawing.render().asPng();
}
