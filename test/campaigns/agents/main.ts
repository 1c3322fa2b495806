/**
 * `npm run chaos:agents -- --rounds 50 --real`: kills, pauses and cuts off API servers under running agents, and looks
 * for what they missed, lost or doubled. Without `--real` the servers are kube-sim. `--seed S` repeats a run's choices,
 * `--record` appends the result to docs/campaigns.jsonl.
 */
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type CampaignResult, runCampaign } from "./campaign.ts";
import { realServers, simulatedServers } from "./servers.ts";

/** Each agent acts again so soon after its API server is back. */
const PROMISED_MS = 10_000;
const RECORDS = join(import.meta.dirname, "../../../docs/campaigns.jsonl");
const SHOWN_VIOLATIONS = 20;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "50" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_000) },
    real: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
  },
});
const rounds = positive("rounds", values.rounds);
const seed = positive("seed", values.seed);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const startedAt = Date.now();
const peers = values.real ? "real API servers" : "kube-sim";
console.log(`seed ${seed}: 2 agents on ${peers}, ${rounds} rounds`);
const result = await runCampaign({
  rounds,
  seed,
  servers: values.real ? realServers() : simulatedServers(),
  print: (line) => console.log(line),
});
const isKept = report(result);
if (values.record) await record(result);
process.exit(isKept ? 0 : 1);

function report({ rounds: done, requests, slowestMs, violations }: CampaignResult): boolean {
  const elapsed = Math.round((Date.now() - startedAt) / 1000);
  console.log(
    `${done} rounds in ${elapsed} s: ${requests} requests, slowest to act again ${(slowestMs / 1000).toFixed(1)} s, ` +
      `${violations.length} violations`,
  );
  const late =
    slowestMs > PROMISED_MS ? [`an agent needed more than ${PROMISED_MS / 1000} s to act again`] : [];
  const problems = [...violations, ...late];
  for (const problem of problems.slice(0, SHOWN_VIOLATIONS)) console.error(`  ${problem}`);
  if (problems.length > 0) {
    const real = values.real ? " --real" : "";
    console.error(`Repeat it with: npm run chaos:agents -- --rounds ${rounds} --seed ${seed}${real}`);
  }
  return problems.length === 0;
}

async function record({ violations, slowestMs, ...counts }: CampaignResult): Promise<void> {
  const line = {
    campaign: "agents-api-server",
    at: new Date(startedAt).toISOString(),
    seconds: Math.round((Date.now() - startedAt) / 1000),
    seed,
    peers,
    node: process.version,
    ...counts,
    slowestMs: Math.round(slowestMs),
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
