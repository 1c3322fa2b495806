import { appendFile } from "node:fs/promises";
import { join } from "node:path";

const RECORDS = join(import.meta.dirname, "../../../../docs/campaigns.jsonl");

/** What a campaign did: numbers to add up, and what is needed to run it again. */
export interface CampaignLine {
  readonly campaign: string;
  readonly seed: number;
  readonly violations: number;
  readonly [figure: string]: string | number;
}

/** Appends a line to docs/campaigns.jsonl, which docs/reliability.md is counted from. */
export async function recordCampaign(
  { campaign, ...figures }: CampaignLine,
  { startedAt, endedAt }: { readonly startedAt: number; readonly endedAt: number },
): Promise<void> {
  const line = {
    campaign,
    at: new Date(startedAt).toISOString(),
    seconds: Math.round((endedAt - startedAt) / 1000),
    node: process.version,
    ...figures,
  };
  await appendFile(RECORDS, `${JSON.stringify(line)}\n`);
}
