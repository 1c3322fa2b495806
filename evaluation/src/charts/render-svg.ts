import type { Chart } from "./chart.ts";
import { drawBars } from "./draw-bars.ts";
import { drawLines } from "./draw-lines.ts";
import { drawTexts, heightOf, WIDTH } from "./frame.ts";
import { patterns } from "./series-styles.ts";
import { element, escapeText } from "./svg.ts";

/** The whole chart as an SVG document: the same data, the same bytes. */
export function renderSvg(chart: Chart): string {
  const height = heightOf(chart);
  const drawn = chart.kind === "lines" ? drawLines(chart) : drawBars(chart);
  const document = element(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      viewBox: `0 0 ${WIDTH} ${height}`,
      width: WIDTH,
      height,
      role: "img",
      "font-family": "DejaVu Sans, Verdana, sans-serif",
    },
    [
      element("title", {}, [escapeText(chart.title)]),
      element("desc", {}, [escapeText(chart.subtitle)]),
      patterns(),
      element("rect", { width: WIDTH, height, fill: "#fff" }),
      ...drawn,
      ...drawTexts(chart),
    ],
  );
  return `${document}\n`;
}
