import type { Chart } from "./charts/chart.ts";
import type { OnCleanup } from "./measure/async.ts";

/** How much is measured: 90 s in all for CI, 5 minutes to try it, or as TARGETS and the report want it. */
export type Size = "smoke" | "quick" | "full";
export type BySize<T> = Readonly<Record<Size, T>>;

/** Something that is said only where it applies. */
export type Line = string | false | undefined;

/** One of the tests of the evaluation: what it does, and what is told of its result. */
export interface TestDefinition<Result> {
  /** What people type behind `--only`: `1a`; `1` means 1a, 1b and 1c. */
  readonly id: string;
  /** The name of its raw samples. Tests with the same one are measured together, once, and both reported from it. Absent: its id. */
  readonly measurement?: string;
  readonly title: string;
  /** Markdown: what is sampled, how often, from which /proc field or clock, with how many trials. */
  readonly method: string;
  /** For the progress bar. 0: not part of a run of that size, which the report then says. */
  readonly expectedSeconds: BySize<number>;
  /** The result is written as it is, as JSON: raw samples included. What the context has started ends afterwards. */
  readonly run: (context: Context) => Promise<Result>;
  /** Pure: it also reports what was measured by an earlier run. */
  readonly report: (result: Result) => TestReport;
}

export interface TestReport {
  /** What must be right, not fast: each line is something that went wrong. */
  readonly faults?: readonly Line[];
  readonly charts?: readonly Chart[];
  /** Rows of the table at the top of the report (and of the README). */
  readonly summary?: readonly SummaryRow[];
  /** Paragraphs of Markdown for the test's own section: tables, and in plain words what is worse than before and why. */
  readonly text: readonly Line[];
}

export interface Context {
  readonly size: Size;
  readonly seed: number;
  /** An empty folder of its own; removed afterwards. */
  readonly folder: string;
  /** Where the system under test runs, and where the load: `taskset` is told so when the machine has two cores or more. */
  readonly cores: { readonly broker: readonly number[]; readonly load: readonly number[] };
  /** What is measured: bundles as they are shipped, made at the beginning of the run. */
  readonly programs: Programs;
  /** A broker that somebody else runs, measured after ours on the same machine: tests 4, 5 and 1c only. */
  readonly baseline?: { readonly url: string; readonly certificates: string };
  /** Between 0 and 1, and what is being done. */
  readonly progress: (share: number, doing: string) => void;
  /** Ctrl-C: end what was started and throw. */
  readonly signal: AbortSignal;
  /** Whatever is started with this context is ended with it. */
  readonly onCleanup: OnCleanup;
}

export interface Programs {
  readonly broker: string;
  readonly agent: string;
  /** brokerctl. */
  readonly cli: string;
}

export interface SummaryRow {
  readonly metric: string;
  readonly ours: string;
  /** Published by the predecessor; "–" where it published nothing. */
  readonly theirs: string;
  /** "433×", "1/3": how much better, from the two figures; "–" where there is nothing to compare; "worse: …" where we are. */
  readonly factor: string;
}

/** A test whose result is nobody else's business: what it is told about itself comes from its own JSON. */
export interface EvaluationTest extends Omit<Required<TestDefinition<unknown>>, "run" | "report"> {
  /** What comes back has been JSON already: the report of a resumed run is made from exactly the same. */
  readonly measure: (context: Context) => Promise<unknown>;
  readonly judge: (raw: unknown) => Judgement;
}

export interface Judgement {
  readonly faults: readonly string[];
  readonly charts: readonly Chart[];
  readonly summary: readonly SummaryRow[];
  readonly text: string;
}

export function evaluationTest<Result>({ run, report, ...about }: TestDefinition<Result>): EvaluationTest {
  return {
    measurement: about.id,
    ...about,
    measure: async (context) => JSON.parse(JSON.stringify(await run(context), shortNumbers)) as unknown,
    judge: (raw) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is what this test itself has written
      const { faults = [], charts = [], summary = [], text } = report(raw as Result);
      return { faults: said(faults), charts, summary, text: said(text).join("\n\n") };
    },
  };
}

export function said(lines: readonly Line[]): string[] {
  return lines.filter((line) => typeof line === "string");
}

/** Those that are reported from one measurement stand together. */
export function byMeasurement<T extends Pick<EvaluationTest, "measurement">>(
  tests: readonly T[],
): (readonly [T, ...T[]])[] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const test of tests) {
    const group = groups.get(test.measurement);
    if (group === undefined) groups.set(test.measurement, [test]);
    else group.push(test);
  }
  return [...groups.values()];
}

/** Seven figures are more than any clock is good for, and let a file be read by people. */
function shortNumbers(_: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(7)) : value;
}
