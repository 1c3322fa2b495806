import type { SummaryRow } from "../evaluation-test.ts";
import type { RunRecord } from "../frame/run-folder.ts";
import { markdownTable } from "./markdown-table.ts";
import { countText, NOTHING } from "./number-text.ts";

/** What every table and chart calls the two sides. */
export const OURS = "this system";
export const THEIRS = "Go thesis, 2026, published";

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
export function dateText(time: string): string {
  return new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" }).format(new Date(time));
}
