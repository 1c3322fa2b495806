import type { Chart } from "../../charts/chart.ts";
import type { Findings } from "../../evaluation-test.ts";
import { logLogFit } from "../../measure/fit.ts";
import { markdownTable } from "../../report/markdown-table.ts";
import { countText, withUnit } from "../../report/number-text.ts";
import { type Recovery, type RecoveryStep, stepOf } from "./results.ts";

const TARGET = { reservations: 100_000, readyMs: 2000 };
/** The step that the issue asks for. */
export const MAIN_STEP = 10_000;

export interface RecoveryResult {
  readonly steps: readonly { readonly planned: number; readonly recoveries: readonly Recovery[] }[];
}

function stepsOf({ steps }: RecoveryResult): RecoveryStep[] {
  return steps.flatMap(({ planned, recoveries }) => stepOf(planned, recoveries) ?? []);
}

export function chartsOf(result: RecoveryResult): readonly Chart[] {
  const steps = stepsOf(result);
  const slope = logLogFit(steps.map(({ reservations, readyMs }) => ({ x: reservations, y: readyMs })))?.slope;
  return [
    {
      name: "9-recovery",
      title: "Back after kill -9",
      subtitle:
        "from the start of the process until it is ready, with all reservations in its ledger (SQLite)",
      kind: "lines",
      x: { label: "reservations in the ledger", scale: "log" },
      y: { label: "time until ready", unit: "ms", scale: "log" },
      series: [
        {
          label: "this system, ready",
          style: "ours",
          points: steps.map(({ reservations, readyMs, readyLow, readyHigh }) => ({
            x: reservations,
            y: readyMs,
            low: readyLow,
            high: readyHigh,
          })),
        },
        {
          label: "this system, first new reservation",
          style: "third",
          points: steps.map(({ reservations, firstGrantMs }) => ({ x: reservations, y: firstGrantMs })),
        },
      ],
      notes: [
        "median of the kills; bars: fastest and slowest",
        ...(slope === undefined
          ? []
          : [`slope ${slope.toFixed(2)} (log-log); 1 would be: twice as many take twice as long`]),
      ],
    },
  ];
}

export function findingsOf(result: RecoveryResult): Findings {
  const steps = stepsOf(result);
  const all = result.steps.flatMap(({ recoveries }) => recoveries);
  const sum = (of: (each: Recovery) => number): number => all.reduce((total, each) => total + of(each), 0);
  const asked = steps.find(({ reservations }) => reservations === MAIN_STEP) ?? steps.at(-1);
  const largest = steps.find(({ reservations }) => reservations === TARGET.reservations);
  return {
    summary: [
      {
        metric: `9 ready again after kill -9, ${countText(asked?.reservations ?? 0)} reservations`,
        ours: withUnit(asked?.readyMs, "ms"),
        theirs: "–",
        factor: "–",
      },
      {
        metric: "9 lost / made up, of all kills",
        ours: `${sum(({ lost }) => lost)} / ${sum(({ strange }) => strange)}`,
        theirs: "–",
        factor: "–",
      },
    ],
    text: [
      `${countText(all.length)} kills in the middle of a burst of requests; ${countText(sum(({ unanswered }) => unanswered))} requests had no answer then, and each of them is there whole or not at all.`,
      "",
      markdownTable(
        ["reservations", "kills", "ready, median", "fastest to slowest", "first new reservation, median"],
        steps.map((step) => [
          countText(step.reservations),
          countText(step.kills),
          withUnit(step.readyMs, "ms"),
          `${countText(step.readyLow)} to ${countText(step.readyHigh)} ms`,
          withUnit(step.firstGrantMs, "ms"),
        ]),
      ),
      "",
      ...(largest !== undefined && largest.readyMs > TARGET.readyMs
        ? [
            `**Short of our own target**: ${countText(TARGET.readyMs)} ms with ${countText(TARGET.reservations)} reservations; it took ${withUnit(largest.readyMs, "ms")}.`,
            "",
          ]
        : []),
      "The predecessor keeps its state in Kubernetes objects and published nothing on this. kill -9 does not test the loss of power: docs/reliability.md says what does.",
    ].join("\n"),
  };
}
