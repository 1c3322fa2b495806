/** A chart as data: drawn as SVG and PNG in one style, readable in grey. */
export interface Chart {
  /** File name without ending: `5-concurrency`. */
  readonly name: string;
  readonly title: string;
  /** What was measured where, in one line; also the caption in the report. */
  readonly subtitle: string;
  readonly kind: "lines" | "bars" | "stacked-bars";
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
  /** Printed below: "slope 0.98 (log-log)". */
  readonly notes?: readonly string[];
}

export interface Axis {
  readonly label: string;
  /** "ms", "% of one core", "MB"; absent for counts and names. */
  readonly unit?: string;
  readonly scale: "linear" | "log" | "names";
}

export interface Series {
  /** "this system" and "Go thesis, 2026, published" where both are shown. */
  readonly label: string;
  /** Each has its own line, marker and grey. */
  readonly style: "ours" | "theirs" | "third" | "fourth";
  /** `low` and `high`: the spread of the runs. A missing y leaves a gap. */
  readonly points: readonly {
    readonly x: number | string;
    readonly y?: number;
    readonly low?: number;
    readonly high?: number;
  }[];
}

/** What every table and chart calls the two sides. */
export const OURS = "this system";
export const THEIRS = "Go thesis, 2026, published";

export function series(label: string, style: Series["style"], points: Series["points"]): Series {
  return { label, style, points };
}
