import type { Chart, Series } from "../../charts/chart.ts";
import type { Findings } from "../../evaluation-test.ts";
import type { Distribution } from "../../measure/statistics.ts";
import { markdownTable } from "../../report/markdown-table.ts";
import { countText, NOTHING, numberText, withUnit } from "../../report/number-text.ts";
import {
  instructionStatistics,
  PAIRS,
  type Pair,
  readyStatistics,
  type Trial,
  type VirtualNodes,
  type Way,
} from "./results.ts";

const PAIR_NAMES: Readonly<Record<Pair, string>> = {
  first: "the first reservation of a pair",
  next: "the next one",
};
const WAYS: readonly { readonly way: Way; readonly label: string; readonly style: Series["style"] }[] = [
  { way: "request", label: "this system: ResourceRequest", style: "ours" },
  { way: "liqoctl", label: "by hand: liqoctl, without a pause", style: "third" },
];

export function chartsOf(result: VirtualNodes): Chart[] {
  if (result.kind === "not measured" || result.trials.length === 0) return [];
  const { trials } = result;
  return [
    {
      name: "12-virtual-node",
      title: "From the request until the virtual node is Ready",
      subtitle: `medians of ${countText(trials.length)} trials; real API servers, Liqo's own controllers, liqoctl; nodes played by kwok, no network fabric`,
      kind: "bars",
      x: { label: "", scale: "names" },
      y: { label: "time", unit: "s", scale: "linear" },
      series: WAYS.map(({ way, label, style }) => ({
        label,
        style,
        points: PAIRS.map((pair) => pointOf(pair, readyStatistics(trials, way, pair))),
      })),
      notes: ["lines: fastest and slowest trial"],
    },
  ];
}

function pointOf(pair: Pair, statistics: Distribution | undefined): Series["points"][number] {
  const x = PAIR_NAMES[pair];
  if (statistics === undefined) return { x };
  const { median, least, most } = statistics;
  return { x, y: median / 1000, low: least / 1000, high: most / 1000 };
}

export function findingsOf(result: VirtualNodes): Findings {
  if (result.kind === "not measured") return { summary: [], text: `**Not measured**: ${result.reason}` };
  const { trials, failures } = result;
  const medians = (way: Way): string =>
    PAIRS.map((pair) => seconds(readyStatistics(trials, way, pair)?.median)).join(" / ");
  return {
    summary: [
      {
        metric: "12 request → Ready virtual node, first / next of a pair, median",
        ours: `${medians("request")} s`,
        theirs: NOTHING,
        factor: `${medians("liqoctl")} s with liqoctl by hand`,
      },
    ],
    text: [
      `${countText(trials.length)} trials, ${countText(failures.length)} failed.`,
      "",
      markdownTable(
        ["", "way", "trials", "until the instruction, median", "until Ready: median", "fastest", "slowest"],
        PAIRS.flatMap((pair) => WAYS.map(({ way, label }) => rowOf(trials, { pair, way, label }))),
      ),
      "",
      "After the instruction the agent runs `liqoctl peer` for the first one, makes a slice, and looks every 2 s how far Liqo is; liqoctl by hand waits for each step itself. A person also looks up names and amounts, fetches a kubeconfig, and looks whether the other cluster has room: none of that is in the figures. Requests are measured before liqoctl by hand: on a machine whose load changes the two are not alike.",
    ].join("\n"),
  };
}

function rowOf(
  trials: readonly Trial[],
  { pair, way, label }: { readonly pair: Pair; readonly way: Way; readonly label: string },
): string[] {
  const ready = readyStatistics(trials, way, pair);
  const instruction = way === "request" ? instructionStatistics(trials, pair)?.median : undefined;
  const times = [ready?.median, ready?.least, ready?.most].map((ms) => `${seconds(ms)} s`);
  return [PAIR_NAMES[pair], label, countText(ready?.count ?? 0), withUnit(instruction, "ms"), ...times];
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? NOTHING : numberText(ms / 1000);
}
