/**
 * `npm run chaos:broker -- --kills 20`: kills a real broker under load and looks for what it had acknowledged.
 * `--minutes M` stops earlier, `--seed S` repeats a run's choices, `--program dist/broker.mjs` takes the bundle,
 * `--record` appends the result to docs/campaigns.jsonl.
 */
import { appendFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type CampaignResult, runCampaign } from "./campaign.ts";

const MINUTE_MS = 60_000;
const RECORDS = join(import.meta.dirname, "../../../docs/campaigns.jsonl");
const SHOWN_VIOLATIONS = 20;

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "20" },
    minutes: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
    program: { type: "string" },
    record: { type: "boolean", default: false },
  },
});
const kills = positive("kills", values.kills);
const seed = positive("seed", values.seed);
const minutes = values.minutes === undefined ? undefined : positive("minutes", values.minutes);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const startedAt = Date.now();
console.log(`seed ${seed}: 16 clients, 8 providers, up to ${kills} kills`);
const result = await runCampaign({
  seed,
  kills,
  ...(minutes === undefined ? {} : { untilMs: startedAt + minutes * MINUTE_MS }),
  ...(values.program === undefined ? {} : { program: resolve(values.program) }),
  print: (line) => console.log(line),
  now: Date.now,
});
report(result);
if (values.record) await record(result);
process.exit(result.violations.length === 0 ? 0 : 1);

function report({ kills: killed, orders, acknowledged, released, violations }: CampaignResult): void {
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  console.log(
    `${killed} kills in ${seconds} s: ${orders} orders, ${acknowledged} acknowledged, ${released} released, ` +
      `${violations.length} violations`,
  );
  for (const violation of violations.slice(0, SHOWN_VIOLATIONS)) console.error(`  ${violation}`);
  if (violations.length > 0)
    console.error(`Repeat it with: npm run chaos:broker -- --kills ${kills} --seed ${seed}`);
}

async function record({ violations, ...counts }: CampaignResult): Promise<void> {
  const line = {
    campaign: "broker-kill",
    at: new Date(startedAt).toISOString(),
    seconds: Math.round((Date.now() - startedAt) / 1000),
    seed,
    node: process.version,
    ...counts,
    violations: violations.length,
  };
  await appendFile(RECORDS, `${JSON.stringify(line)}\n`);
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (Number.isFinite(number) && number > 0) return number;
  console.error(`--${name} must be a number above 0`);
  return process.exit(2);
}
