import type { Chart } from "../charts/chart.ts";
import type { Findings, SummaryRow } from "../evaluation-test.ts";
import type { Noise } from "../frame/noise.ts";
import type { RunRecord } from "../frame/run-folder.ts";
import { distributionOf } from "../measure/statistics.ts";
import { byMeasurement } from "../tests/list-test.ts";
import { markdownTable } from "./markdown-table.ts";
import { countText, numberText } from "./number-text.ts";
import { type RunSummary, runToRunText } from "./run-to-run.ts";
import { dateText, summaryMarkdown } from "./summary.ts";

/** One test as it is reported. */
export interface ReportedTest {
  readonly id: string;
  readonly measurement: string;
  readonly title: string;
  readonly method: string;
  readonly commit: string;
  readonly seconds: number;
  readonly noise: Noise;
  readonly faults: readonly string[];
  readonly charts: readonly Chart[];
  readonly findings: Findings;
}

export interface ReportInput {
  /** Of the run's folder. */
  readonly name: string;
  readonly record: RunRecord;
  readonly tests: readonly ReportedTest[];
  /** Tests that failed while measuring, and why. */
  readonly failed: readonly { readonly id: string; readonly title: string; readonly problem: string }[];
  /** Other runs like this one, newest first. */
  readonly others: readonly RunSummary[];
  /** Tests that were not part of this run. */
  readonly left: readonly { readonly id: string; readonly title: string }[];
}

export function reportMarkdown({ name, record, tests, failed, others, left }: ReportInput): string {
  const rows = tests.flatMap(({ findings }) => findings.summary);
  return [
    `# Evaluation of ${dateText(record.startedAt)}`,
    INTRODUCTION,
    "## Summary",
    summaryMarkdown(record, rows).trimEnd(),
    ...baselineWords(record),
    "## What went wrong",
    faultsText(tests, failed),
    "## Where this system is worse",
    worseText(record, rows),
    "## How it was measured",
    methodText(record, tests),
    "### Noise",
    noiseText(tests),
    "### From run to run",
    runToRunText({ name, rows }, others),
    ...notMeasured(left),
    ...tests.map(sectionOf),
  ]
    .join("\n\n")
    .concat("\n");
}

const INTRODUCTION = `Written by \`npm run evaluate\`; every figure comes from the raw JSON beside this file. "this system" was measured here; "Go thesis, 2026, published" is what the predecessor published about itself, measured by its author on a machine with 96 cores. Both columns beside each other are therefore no race on one track: a side-by-side run on one machine needs its broker (\`--baseline\`).`;

function baselineWords({ baseline }: RunRecord): string[] {
  return baseline === undefined
    ? []
    : [`**Tests 1c, 4 and 5 measured the broker at ${baseline}, and not the one of this repository.**`];
}

function faultsText(tests: readonly ReportedTest[], failed: ReportInput["failed"]): string {
  const lines = [
    ...failed.map(({ id, title, problem }) => `- **${id} ${title}** could not be measured: ${problem}`),
    ...tests.flatMap(({ id, title, faults }) => faults.map((fault) => `- **${id} ${title}**: ${fault}`)),
  ];
  return lines.length === 0
    ? "Nothing: no time-out, no double booking, no wrong decision, nobody lost."
    : lines.join("\n");
}

function worseText({ size }: RunRecord, rows: readonly SummaryRow[]): string {
  if (size === "smoke") return "A smoke run compares nothing.";
  const worse = rows.filter(({ factor }) => factor.startsWith("worse"));
  if (worse.length === 0) return "In no figure that both sides have.";
  const lines = worse.map(
    ({ metric, ours, theirs, factor }) => `- ${metric}: ${ours} against ${theirs} (${factor})`,
  );
  return `${lines.join("\n")}\n\nWhy is said with each test below.`;
}

function methodText({ machine, cores, size, seed }: RunRecord, tests: readonly ReportedTest[]): string {
  const pinned =
    cores.broker.length === 0
      ? "Nobody was pinned to a core (one core only, or no `taskset`)."
      : `\`taskset\` keeps the broker on core ${cores.broker.join(", ")} and everything else (agents, simulated clusters, load, this program) on core ${cores.load.join(", ")}.`;
  return [
    `Broker and agents are the bundles that are shipped (\`npm run bundle\`), each in a process of its own with the flags of its launcher, over mTLS with certificates of a test authority, every reservation durable (SQLite, synchronous=FULL). Clusters are simulated by kube-sim in one process of their own: a real HTTPS API server, no kubelets. ${pinned}`,
    markdownTable(
      ["", ""],
      [
        ["Processor", `${machine.cpu}, ${countText(machine.cores)} cores`],
        [
          "Memory",
          `${countText(machine.memoryMb)} MB, ${countText(machine.availableMb)} MB free at the beginning`,
        ],
        ["System", machine.system],
        ["Node", machine.node],
        ["Commit", [...new Set(tests.map(({ commit }) => commit))].join(", then ") || machine.commit],
        ["Run", `${size}, seed ${seed}, begun at a load of ${machine.load.toFixed(2)}`],
      ],
      () => "left",
    ),
  ].join("\n\n");
}

function noiseText(tests: readonly ReportedTest[]): string {
  const rows = byMeasurement(tests).map((sharing) => {
    const [{ seconds, noise }] = sharing;
    const work = distributionOf(noise.sameWorkMs);
    const same =
      work === undefined
        ? "–"
        : `${numberText(work.median)} ms (${numberText(work.least)}–${numberText(work.most)})`;
    return [
      sharing.map(({ id, title }) => `${id} ${title}`).join(", "),
      `${numberText(seconds)} s`,
      same,
      noise.loadBefore.toFixed(2),
      `${numberText(noise.stolenPercent)} %`,
    ];
  });
  const words =
    "Before each test the same piece of work (SHA-256 of 12 MB) is done nine times: how much its times differ is what this machine adds to any figure. “Stolen” is the time that the machine below took away during the test.";
  return `${words}\n\n${markdownTable(["Test", "took", "same work, median (least–most)", "load before", "stolen"], rows)}`;
}

function notMeasured(left: ReportInput["left"]): string[] {
  if (left.length === 0) return [];
  return ["### Not in this run", left.map(({ id, title }) => `- ${id} ${title}`).join("\n")];
}

function sectionOf({ id, measurement, title, method, charts, findings }: ReportedTest): string {
  const images = charts.map(
    ({ name, title: caption, subtitle }) =>
      `![${caption}](charts/${name}.svg)\n\n*${subtitle}* ([PNG](charts/${name}.png))`,
  );
  const samples = `[Every sample](raw/${measurement}.json).`;
  return [`## ${id} ${title}`, `**Method.** ${method} ${samples}`, findings.text, ...images]
    .filter((part) => part !== "")
    .join("\n\n");
}
