import type { Series } from "./chart.ts";
import { element, type Svg } from "./svg.ts";

export interface SeriesStyle {
  /** Of lines and outlines: each is as dark as no other, so that they can be told apart in grey. */
  readonly colour: string;
  readonly width: number;
  readonly dashes?: string;
  readonly marker: (x: number, y: number) => Svg;
  /** Of bars: a pattern of its own each. */
  readonly fill: string;
}

const square = (x: number, y: number, colour: string): Svg =>
  element("rect", {
    x: x - 4,
    y: y - 4,
    width: 8,
    height: 8,
    fill: "#fff",
    stroke: colour,
    "stroke-width": 2,
  });

const polygon = (points: string, fill: string, stroke: string): Svg =>
  element("polygon", { points, fill, stroke, "stroke-width": 1.5 });

export const SERIES_STYLES: Readonly<Record<Series["style"], SeriesStyle>> = {
  ours: {
    colour: "#0a3069",
    width: 3,
    marker: (x, y) => element("circle", { cx: x, cy: y, r: 4.5, fill: "#0a3069" }),
    fill: "#0a3069",
  },
  theirs: {
    colour: "#bc4c00",
    width: 2,
    dashes: "8 5",
    marker: (x, y) => square(x, y, "#bc4c00"),
    fill: "url(#hatched)",
  },
  third: {
    colour: "#2da44e",
    width: 2.5,
    dashes: "2 4",
    marker: (x, y) => polygon(`${x},${y - 5.5} ${x + 5},${y + 4} ${x - 5},${y + 4}`, "#2da44e", "#2da44e"),
    fill: "url(#dotted)",
  },
  fourth: {
    colour: "#8250df",
    width: 2,
    dashes: "12 4 2 4",
    marker: (x, y) => polygon(`${x},${y - 6} ${x + 6},${y} ${x},${y + 6} ${x - 6},${y}`, "#fff", "#8250df"),
    fill: "#f3effc",
  },
};

/** The fills that are no plain colour. */
export function patterns(): Svg {
  const pattern = (id: string, size: number, children: readonly Svg[]): Svg =>
    element("pattern", { id, width: size, height: size, patternUnits: "userSpaceOnUse" }, [
      element("rect", { width: size, height: size, fill: "#fff" }),
      ...children,
    ]);
  return element("defs", {}, [
    pattern("hatched", 8, [
      element("path", {
        d: "M-2,2 L2,-2 M0,8 L8,0 M6,10 L10,6",
        stroke: SERIES_STYLES.theirs.colour,
        "stroke-width": 2.2,
      }),
    ]),
    pattern("dotted", 7, [element("circle", { cx: 3.5, cy: 3.5, r: 2, fill: SERIES_STYLES.third.colour })]),
  ]);
}
