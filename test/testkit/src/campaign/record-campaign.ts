import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type CampaignRecord, summaryOf } from "./summary.ts";

const DOCS = join(import.meta.dirname, "../../../../docs");
const RECORDS = join(DOCS, "campaigns.jsonl");
const REPORT = join(DOCS, "reliability.md");
const TABLE = /(<!-- campaigns -->\n)[^]*?(<!-- end of campaigns -->)/;

/** What a campaign did: numbers to add up, and what is needed to run it again. */
export interface CampaignLine {
  readonly campaign: string;
  readonly seed: number;
  readonly violations: number;
  readonly [figure: string]: unknown;
}

/** Appends a line to docs/campaigns.jsonl and counts the table of docs/reliability.md anew. */
export async function recordCampaign(
  { campaign, ...results }: CampaignLine,
  { startedAt, endedAt }: { readonly startedAt: number; readonly endedAt: number },
): Promise<void> {
  const line = {
    campaign,
    at: new Date(startedAt).toISOString(),
    seconds: Math.round((endedAt - startedAt) / 1000),
    node: process.version,
    ...results,
  };
  await appendFile(RECORDS, `${JSON.stringify(line)}\n`);
  const lines = (await readFile(RECORDS, "utf8")).trim().split("\n");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a file of ours: one object on each line
  const table = summaryOf(lines.map((each) => JSON.parse(each) as CampaignRecord));
  const report = await readFile(REPORT, "utf8");
  await writeFile(
    REPORT,
    report.replace(TABLE, (_, begin: string, end: string) => `${begin}${table}\n${end}`),
  );
}
