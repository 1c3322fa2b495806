import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type CampaignRecord, summaryOf } from "./summary.ts";

const DOCS = join(import.meta.dirname, "../../../docs");

test("runs of a campaign are added up, and what was measured last is shown", () => {
  const summary = summaryOf([
    { campaign: "simulation", at: "2026-01-05T12:00:00Z", seeds: 100, powerFailures: 7, violations: 0 },
    {
      campaign: "simulation",
      at: "2026-01-06T12:00:00Z",
      seeds: 1900,
      powerFailures: 5,
      violations: 3,
      fixed: 2,
    },
    { campaign: "replica-strike", at: "2026-01-06T13:00:00Z", kills: 3, violations: 0 },
    { campaign: "replica-strike", at: "2026-01-07T13:00:00Z", store: "kubernetes", kills: 4, violations: 0 },
    { campaign: "mutants", at: "2026-01-06T13:00:00Z", planted: 40, caught: 40, violations: 0 },
    { campaign: "mutants", at: "2026-01-07T13:00:00Z", planted: 50, caught: 50, violations: 0 },
  ]);
  expect(summary).toContain("| 2 | seeds 2,000, power failures 12 | 1 (2 found and fixed) | 2026-01-06 |");
  expect(summary).toContain("--store postgres` | 1 | kills 3 |");
  expect(summary).toContain("--store kubernetes` | 1 | kills 4 |");
  expect(summary).toContain("| 2 | planted 50, caught 50 | 0 | 2026-01-07 |");
});

test("docs/reliability.md says what docs/campaigns.jsonl has", () => {
  const lines = readFileSync(join(DOCS, "campaigns.jsonl"), "utf8").trim().split("\n");
  const records = lines.map((line) => JSON.parse(line) as CampaignRecord);
  expect(readFileSync(join(DOCS, "reliability.md"), "utf8")).toContain(summaryOf(records));
});
