import type { Axis, Chart, Series } from "./chart.ts";
import type { Scale } from "./scale.ts";
import { SERIES_STYLES } from "./series-styles.ts";
import { element, GRID, INK, SOFT_INK, type Svg, text, textWidth } from "./svg.ts";

export const WIDTH = 960;
const NOTE_HEIGHT = 20;
const HEIGHT = 572;
/** Where the data is. */
export const PLOT = { left: 84, right: 930, top: 140, bottom: 476 } as const;

const SUBTITLE_SIZE = 13;
const LEGEND_SIZE = 14;
const LEGEND_ROW = 21;

export function heightOf({ notes = [] }: Chart): number {
  return HEIGHT + NOTE_HEIGHT * Math.max(0, notes.length - 1);
}

/** Title, subtitle and legend above, notes below. */
export function drawTexts(chart: Chart): Svg[] {
  const { title, subtitle, notes = [] } = chart;
  const lines = wrapText(subtitle, (PLOT.right - 24) / textWidth("m", SUBTITLE_SIZE)).slice(0, 2);
  return [
    text(24, 36, [title, { size: 21, weight: "bold" }]),
    ...lines.map((line, at) => text(24, 58 + 17 * at, [line, { size: SUBTITLE_SIZE, fill: SOFT_INK }])),
    ...drawLegend(chart),
    ...notes.map((note, at) =>
      text(24, HEIGHT - 16 + NOTE_HEIGHT * at, [note, { size: 13, fill: SOFT_INK }]),
    ),
  ];
}

/** In as many rows as it takes: the lowest one is just above the data. */
function drawLegend({ series, kind }: Chart): Svg[] {
  const rows = legendRows(series);
  return rows.flatMap((row, index) => {
    const y = PLOT.top - 26 - LEGEND_ROW * (rows.length - 1 - index);
    let x: number = PLOT.left;
    return row.flatMap((each) => {
      const from = x;
      x += legendWidth(each);
      return drawKey(each, { x: from, y, kind });
    });
  });
}

function legendWidth({ label }: Series): number {
  return 42 + textWidth(label, LEGEND_SIZE) + 24;
}

export function legendRows(series: readonly Series[]): Series[][] {
  const rows: Series[][] = [];
  let room = 0;
  for (const each of series) {
    const width = legendWidth(each);
    if (width > room) {
      rows.push([]);
      room = PLOT.right - PLOT.left;
    }
    rows.at(-1)?.push(each);
    room -= width;
  }
  return rows;
}

interface LegendKeyPosition {
  readonly x: number;
  readonly y: number;
  readonly kind: Chart["kind"];
}

function drawKey({ label, style }: Series, { x, y, kind }: LegendKeyPosition): Svg[] {
  const { colour, width, dashes, marker, fill } = SERIES_STYLES[style];
  const d = `M${x},${y} h34`;
  const line = element("path", { d, stroke: colour, "stroke-width": width, "stroke-dasharray": dashes });
  const box = { x, y: y - 9, width: 34, height: 17, fill, stroke: colour, "stroke-width": 1.5 };
  const key = kind === "lines" ? [line, marker(x + 17, y)] : [element("rect", box)];
  return [...key, text(x + 42, y + 5, [label, { size: LEGEND_SIZE }])];
}

function axisTitle({ label, unit }: Axis): string {
  return unit === undefined ? label : `${label} (${unit})`;
}

/** Lines across, figures beside them, and the axis' name. */
export function drawYAxis(axis: Axis, scale: Scale): Svg[] {
  const middle = (PLOT.top + PLOT.bottom) / 2;
  return [
    ...scale.ticks.flatMap(({ at, label }) => [
      element("path", {
        d: `M${PLOT.left},${at.toFixed(1)} H${PLOT.right}`,
        stroke: GRID,
        "stroke-width": 1,
      }),
      text(PLOT.left - 8, at + 4.5, [label, { anchor: "end" }]),
    ]),
    text(22, middle, [axisTitle(axis), { size: 14, anchor: "middle", turn: -90 }]),
  ];
}

export function drawXAxis(axis: Axis, ticks: Scale["ticks"]): Svg[] {
  return [
    element("path", {
      d: `M${PLOT.left},${PLOT.bottom} H${PLOT.right}`,
      stroke: INK,
      "stroke-width": 1.2,
    }),
    ...ticks.flatMap(({ at, label }) => [
      element("path", { d: `M${at.toFixed(1)},${PLOT.bottom} v5`, stroke: INK, "stroke-width": 1.2 }),
      text(at, PLOT.bottom + 20, [label, { anchor: "middle" }]),
    ]),
    drawXTitle(axis),
  ];
}

export function drawXTitle(axis: Axis): Svg {
  return text((PLOT.left + PLOT.right) / 2, PLOT.bottom + 52, [
    axisTitle(axis),
    { size: 14, anchor: "middle" },
  ]);
}

/** Breaks at spaces where a line would have more characters. */
export function wrapText(content: string, characters: number): string[] {
  const lines: string[] = [];
  for (const word of content.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= characters)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
