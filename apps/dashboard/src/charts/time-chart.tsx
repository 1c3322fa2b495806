import { type KeyboardEvent, type PointerEvent, useId, useMemo, useState } from "react";
import { momentText } from "../format/time.ts";
import { useWidth } from "../parts/use-width.ts";
import { Legend } from "./bar.tsx";
import { type TimeChart as Chart, MARGIN, type TimeChartView, timeChartView } from "./time-chart-view.ts";
import "./time-chart.css";

const RISING = "M-2 7 7 -2M3 12 12 3";
const FALLING = "M-2 3 7 12M3 -2 12 7";

/** For those who see colours differently, in print, and on a bad projector. A tile joins its neighbours without a seam. */
const PATTERNS: Readonly<Record<string, string>> = {
  reserved: RISING,
  "reason-0": RISING,
  "reason-1": FALLING,
  "reason-2": "M5 0V10",
  "reason-3": "M0 5H10",
  "reason-4": "M5 0V10M0 5H10",
};

const HEIGHT = 200;

interface TimeChartProps {
  readonly title: string;
  readonly chart: Chart;
  readonly emptyText: string;
}

export function TimeChart({ title, chart, emptyText }: TimeChartProps) {
  const [box, width] = useWidth(640);
  const [index, setIndex] = useState<number | null>(null);
  const view = useMemo(() => timeChartView(chart, { width, height: HEIGHT }), [chart, width]);
  const point = (event: PointerEvent<SVGSVGElement>): void => {
    const { left } = event.currentTarget.getBoundingClientRect();
    setIndex(view.indexAt(event.clientX - left));
  };
  const step = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (event.key === "Escape") setIndex(null);
    if (by === undefined) return;
    event.preventDefault();
    setIndex(Math.min(view.points - 1, Math.max(0, (index ?? view.points - 1) + by)));
  };
  const shown = index === null || index >= view.points ? null : index;
  return (
    <div className="chart">
      <Readout chart={chart} index={shown} />
      <div ref={box} />
      {view.isEmpty ? (
        <p className="chart-empty">{emptyText}</p>
      ) : (
        <svg
          width={width}
          height={HEIGHT}
          role="group"
          aria-label={`${title}. Arrow keys move through time.`}
          tabIndex={0}
          onPointerMove={point}
          onPointerLeave={() => setIndex(null)}
          onKeyDown={step}
        >
          <Drawing view={view} width={width} />
          {shown !== null && <Cursor x={view.xOf(shown)} width={width} text={timeAt(chart, shown)} />}
        </svg>
      )}
    </div>
  );
}

function Drawing({ view, width }: { readonly view: TimeChartView; readonly width: number }) {
  const patterns = useId();
  return (
    <>
      <defs>
        {Object.entries(PATTERNS).map(([name, lines]) => (
          <pattern key={name} id={`${patterns}${name}`} width={10} height={10} patternUnits="userSpaceOnUse">
            <path className="pattern-line" d={lines} />
          </pattern>
        ))}
      </defs>
      {view.yTicks.map(({ y, text }) => (
        <g key={y}>
          <line className="grid" x1={view.left} x2={width - MARGIN.right} y1={y} y2={y} />
          <text className="axis" x={view.left - 8} y={y + 4} textAnchor="end">
            {text}
          </text>
        </g>
      ))}
      {view.xTicks.map(({ x, text }) => (
        <g key={x}>
          <line
            className="axis-tick"
            x1={x}
            x2={x}
            y1={HEIGHT - MARGIN.bottom}
            y2={HEIGHT - MARGIN.bottom + 4}
          />
          <text className="axis" x={x} y={HEIGHT - 6} textAnchor="middle">
            {text}
          </text>
        </g>
      ))}
      {view.bands.map(({ name, path }) => (
        <g key={name} className={`band is-${name}`}>
          <path className="band-ground" d={path} />
          {name in PATTERNS && <path d={path} fill={`url(#${patterns}${name})`} />}
        </g>
      ))}
      <path className="limit" d={view.line} />
    </>
  );
}

const HALF_A_LABEL = 44;

function Cursor({ x, width, text }: { readonly x: number; readonly width: number; readonly text: string }) {
  const label = Math.min(width - HALF_A_LABEL, Math.max(HALF_A_LABEL, x));
  return (
    <>
      <line className="cursor" x1={x} x2={x} y1={MARGIN.top} y2={HEIGHT - MARGIN.bottom} />
      <text className="axis cursor-text" x={label} y={MARGIN.top - 4} textAnchor="middle">
        {text}
      </text>
    </>
  );
}

function timeAt({ fromMs, stepMs }: Chart, index: number): string {
  return momentText(fromMs + index * stepMs);
}

/** Legend and figures in one: without a pointer, those of the newest point. */
function Readout({ chart, index }: { readonly chart: Chart; readonly index: number | null }) {
  const rows = chart.line === undefined ? chart.bands : [...chart.bands, chart.line];
  const items = rows.map(({ name, title, values }) => {
    const value = values.at(index ?? -1) ?? null;
    return { name, title, value: value === null ? "not known" : chart.format(value) };
  });
  return (
    <div aria-live={index === null ? "off" : "polite"}>
      {index !== null && <span className="hidden">{timeAt(chart, index)}</span>}
      <Legend label="Legend" items={items} />
    </div>
  );
}
