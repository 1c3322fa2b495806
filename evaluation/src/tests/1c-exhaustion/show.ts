import type { Chart, Series } from "../../charts/chart.ts";
import type { Findings } from "../../evaluation-test.ts";
import { median } from "../../measure/statistics.ts";
import { PREDECESSOR } from "../../predecessor.ts";
import { markdownTable } from "../../report/markdown-table.ts";
import { countText, numberText } from "../../report/number-text.ts";
import { baselineText, eachOf, type SideBySide } from "../subject/side-by-side.ts";
import { ASKED, type BrokerRuns, exhaustionFaults, expectedGrants, freeCpu, splitOf } from "./results.ts";

const THEIRS = PREDECESSOR.exhaustion;
const SERIES_STYLES_BY_RUN: readonly Series["style"][] = ["ours", "third"];

export function chartsOf(result: SideBySide<BrokerRuns>): readonly Chart[] {
  const asked = `${ASKED.cpuMillis}m / ${ASKED.memoryMi}Mi each`;
  const byProvider = (split: readonly number[]): Series["points"] =>
    split.map((y, at) => ({ x: `provider ${at + 1}`, y }));
  const [two] = result.ours.runs;
  return [
    {
      name: "1c-exhaustion-split",
      title: "Reservations until nothing is left",
      subtitle: `two clusters with room for 8 and 7, ${asked}, one request after the other`,
      kind: "bars",
      x: { label: "provider", scale: "names" },
      y: { label: "reservations granted", scale: "linear" },
      series: [
        ...eachOf(result).map(
          ({ subject, runs: [first] }, at): Series => ({
            label: subject,
            style: SERIES_STYLES_BY_RUN[at] ?? "fourth",
            points: byProvider(first === undefined ? [] : splitOf(first)),
          }),
        ),
        { label: "Go thesis, 2026, published", style: "theirs", points: byProvider(THEIRS.split) },
      ],
    },
    {
      name: "1c-exhaustion-free",
      title: "What each provider has left",
      subtitle: `after each request, ${asked}; the last ones are refused`,
      kind: "lines",
      x: { label: "requests so far", scale: "linear" },
      y: { label: "free", unit: "CPU", scale: "linear" },
      series: (two === undefined ? [] : freeCpu(two)).map(({ left }, at) => ({
        label: `this system, provider ${at + 1}`,
        style: SERIES_STYLES_BY_RUN[at] ?? "fourth",
        points: left.map((y, x) => ({ x, y })),
      })),
    },
  ];
}

function rowsOf({ subject, runs }: BrokerRuns): string[][] {
  return runs.map((each) => {
    const granted = each.answers.filter(({ status }) => status === 201);
    const refused = each.answers.filter(({ status }) => status === 409);
    const split = splitOf(each);
    return [
      `${subject}: ${each.name}`,
      `${countText(granted.length)} of ${countText(expectedGrants(each))}`,
      countText(refused.length),
      countText(each.answers.length - granted.length - refused.length),
      split.length > 8 ? `${Math.min(...split)} to ${Math.max(...split)}` : split.join(" / "),
      each.afterRelease?.join(", then ") ?? "no such call",
      `${numberText(median(granted.map(({ tookMs }) => tookMs)) ?? 0)} ms`,
    ];
  });
}

export function findingsOf(result: SideBySide<BrokerRuns>): Findings {
  const [two] = result.ours.runs;
  const split = two === undefined ? [] : splitOf(two);
  const granted = split.reduce((a, b) => a + b, 0);
  const expected = two === undefined ? 0 : expectedGrants(two);
  return {
    summary: [
      {
        metric: "1c reservations until nothing is left",
        ours: `${granted}/${expected}, split ${split.join("/")}`,
        theirs: `${THEIRS.succeeded}/${THEIRS.asked}, split ${THEIRS.split.join("/")}`,
        factor: granted === expected ? "the same" : "worse: see below",
      },
    ],
    text: [
      markdownTable(
        ["run", "granted", "refused (409)", "failed otherwise", "split", "after one release", "median"],
        eachOf(result).flatMap(rowsOf),
      ),
      "",
      ...baselineText(result, ({ runs }) => runs.flatMap(exhaustionFaults)),
      "The predecessor stopped at the fifteenth request; here everybody goes on asking, so that the refusals are tested, too.",
    ].join("\n"),
  };
}
