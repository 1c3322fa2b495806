import type { SummaryRow } from "../evaluation-test.ts";
import { markdownTable } from "./markdown-table.ts";
import { NOTHING } from "./number-text.ts";

/** What a run has found, by the name of its folder. */
export interface RunSummary {
  readonly name: string;
  readonly rows: readonly SummaryRow[];
}

/** The same figures from this run and from others of the same size on the same machine: how much they differ is noise. */
export function runToRunText(run: RunSummary, others: readonly RunSummary[]): string {
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
