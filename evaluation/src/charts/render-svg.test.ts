import { expect, test } from "vitest";
import type { Chart } from "./chart.ts";
import { renderPng, renderSvg } from "./render-svg.ts";

const LINES: Chart = {
  name: "lines",
  title: "CPU & memory <of one>",
  subtitle: "over 60 s",
  kind: "lines",
  x: { label: "agents", scale: "linear" },
  y: { label: "broker CPU", unit: "% of one core", scale: "linear" },
  series: [
    {
      label: "this system",
      style: "ours",
      points: [{ x: 1, y: 1, low: 0.5, high: 2 }, { x: 2 }, { x: 3, y: 3 }],
    },
    {
      label: "Go thesis, 2026, published",
      style: "theirs",
      points: [
        { x: 1, y: 2 },
        { x: 3, y: 4 },
      ],
    },
  ],
  notes: ["slope 0.98 (log-log)"],
};
const NAMED = [
  { x: "rome", y: 20 },
  { x: "paris", y: 5 },
];
const BARS: Chart = {
  ...LINES,
  kind: "bars",
  x: { label: "clusters", scale: "names" },
  series: [
    { label: "this system", style: "ours", points: NAMED },
    { label: "others", style: "third", points: NAMED },
  ],
};

test.each([
  { name: "lines", chart: LINES },
  { name: "lines over names", chart: { ...BARS, kind: "lines" } as const },
  { name: "bars", chart: BARS },
  { name: "stacked bars", chart: { ...BARS, kind: "stacked-bars" } as const },
  { name: "nothing at all", chart: { ...LINES, series: [] } },
])("a chart of $name says what it shows, and is well formed", ({ chart }) => {
  const svg = renderSvg(chart);
  for (const { label } of chart.series) expect(svg).toContain(`>${label}<`);
  expect(svg).toContain("CPU &amp; memory &lt;of one&gt;");
  expect(svg).toContain("broker CPU (% of one core)");
  expect(svg).toContain(">slope 0.98 (log-log)<");
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  expectBalanced(svg);
});

test("the same data gives the same bytes", () => {
  expect(renderSvg(LINES)).toBe(renderSvg(structuredClone(LINES)));
});

test("a missing point is a gap in the line, not a way through 0", () => {
  const [path = ""] =
    /(?<=stroke="#0a3069" stroke-width="3"[^>]*><path d=")M[^"]*/.exec(renderSvg(LINES)) ?? [];
  expect(path.match(/M/g)).toHaveLength(2);
});

test("bars have their values on them; a stack has its sum", () => {
  expect(renderSvg(BARS)).toContain(">20</text>");
  expect(renderSvg({ ...BARS, kind: "stacked-bars" })).toContain(">40</text>");
});

test("a picture is drawn with the fonts of npm: words change it", () => {
  const [one, other] = [LINES, { ...LINES, title: "Something else" }].map((chart) =>
    renderPng(renderSvg(chart)),
  );
  expect(
    Buffer.from(one ?? [])
      .subarray(1, 4)
      .toString(),
  ).toBe("PNG");
  expect(Buffer.compare(one ?? Buffer.alloc(0), other ?? Buffer.alloc(0))).not.toBe(0);
});

/** Every element that is opened is closed, in order. */
function expectBalanced(svg: string): void {
  const open: string[] = [];
  for (const [, slash, name = "", self] of svg.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/gi)) {
    if (slash === "/") expect(open.pop()).toBe(name);
    else if (self !== "/") open.push(name);
  }
  expect(open).toEqual([]);
}
