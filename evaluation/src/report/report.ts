import { OURS, THEIRS } from "../charts/chart.ts";
import { byMeasurement, type EvaluationTest, type Judgement, type SummaryRow } from "../evaluation-test.ts";
import type { Noise } from "../frame/machine.ts";
import type { RunRecord } from "../frame/run-folder.ts";
import { distributionOf } from "../measure/statistics.ts";
import { countText, markdownTable, NOTHING, numberText } from "./format.ts";

/** The same in the report and in the README: when, where, and the table. */
export function summaryMarkdown(record: RunRecord, rows: readonly SummaryRow[], reportLink?: string): string {
  const link = reportLink === undefined ? "" : ` [The whole report, with method and charts](${reportLink}).`;
  const words = `Measured on ${dateText(record.startedAt)} on ${machineText(record)}.${SIZE_WORDS[record.size]} Published figures: the predecessor's own (Go, 96 cores, 2026).${link}`;
  return `${words}\n\n${summaryTable(comparable(record, rows))}\n`;
}

/** A smoke run compares nothing. */
function comparable({ size }: Pick<RunRecord, "size">, rows: readonly SummaryRow[]): readonly SummaryRow[] {
  return size === "smoke" ? rows.map((row) => ({ ...row, factor: NOTHING })) : rows;
}

const SIZE_WORDS: Readonly<Record<RunRecord["size"], string>> = {
  full: "",
  quick: " A quick run: fewer and shorter trials than the report is meant to have.",
  smoke: " **A smoke run: it shows that everything works; its figures mean nothing.**",
};

function summaryTable(rows: readonly SummaryRow[]): string {
  return markdownTable(
    ["", OURS, THEIRS, "better by"],
    rows.map(({ metric, ours, theirs, factor }) => [metric, ours, theirs, factor]),
  );
}

function machineText({ machine, cores }: RunRecord): string {
  const pinned =
    cores.broker.length === 0
      ? "nobody pinned to a core"
      : "the broker on one core, everything else on the rest";
  const memory = `${Math.round(machine.memoryMb / 1000)} GB`;
  return `${machine.cpu}, ${countText(machine.cores)} cores, ${memory}, ${machine.system}, Node ${machine.node.replace("v", "")}; ${pinned}`;
}

/** `15 November 2026`. */
function dateText(time: string): string {
  return new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" }).format(new Date(time));
}

type AboutTest = Pick<EvaluationTest, "id" | "measurement" | "title" | "method">;

/** One test as it is reported. */
export interface ReportedTest extends AboutTest, Judgement {
  readonly commit: string;
  readonly seconds: number;
  readonly noise: Noise;
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
  const rows = rowsOf(tests);
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

export function rowsOf(tests: readonly ReportedTest[]): SummaryRow[] {
  return tests.flatMap(({ summary }) => summary);
}

const INTRODUCTION = `Written by \`npm run evaluate\`; the raw samples (\`raw/\`) stay on the machine that measured. "this system" was measured here; "Go thesis, 2026, published" is what the predecessor published about itself, measured by its author on a machine with 96 cores. Both columns beside each other are therefore no race on one track: a side-by-side run on one machine needs its broker (\`--baseline\`).`;

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

function sectionOf({ id, title, method, charts, text }: ReportedTest): string {
  const images = charts.map(
    ({ name, title: caption, subtitle }) => `![${caption}](charts/${name}.svg)\n\n*${subtitle}*`,
  );
  return [`## ${id} ${title}`, `**Method.** ${method}`, text, ...images]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** What a run has found, by the name of its folder. */
export interface RunSummary {
  readonly name: string;
  readonly rows: readonly SummaryRow[];
}

/** The same figures from this run and from others of the same size on the same machine: how much they differ is noise. */
function runToRunText(run: RunSummary, others: readonly RunSummary[]): string {
  if (others.length === 0)
    return "There is no other run of this size from this machine beside this one: the spread within the run stands with each test. A second run, kept in the same folder, is set beside this one here.";
  const valueIn = ({ rows }: RunSummary, figure: string): string =>
    rows.find((row) => row.metric === figure)?.ours ?? NOTHING;
  const table = markdownTable(
    ["", ...[run, ...others].map(({ name }) => name)],
    run.rows.map(({ metric }) => [metric, ...[run, ...others].map((each) => valueIn(each, metric))]),
  );
  return `The same figures from other runs of this size on this machine:\n\n${table}`;
}
