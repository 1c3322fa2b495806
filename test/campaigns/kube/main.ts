/**
 * `npm run chaos:kube -- --rounds 50`: kills, pauses and cuts kube-sim under running informers, with the limits they
 * have in production. `--real` takes a real API server, `--seed S` repeats a run's choices, `--record` appends the
 * result to docs/campaigns.jsonl.
 */
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { KIND_NAMES } from "./objects.ts";
import { type RoundReport, runChaos } from "./run-chaos.ts";
import { DISRUPTIONS, realServer, simServer } from "./target-server.ts";

const RECORDS = join(import.meta.dirname, "../../../docs/campaigns.jsonl");
const MAX_DOWN_MS = 2_000;
/** What issue 4 promises. */
const RECOVERY_LIMIT_MS = 10_000;

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
const target = await (values.real ? realServer() : simServer());
console.log(`seed ${seed}: ${target.name}, ${rounds} rounds`);
try {
  const reports = await runChaos({
    target,
    rounds,
    seed,
    longestMs: MAX_DOWN_MS,
    onRound: ({ round, disruption, downMs, recoveredAfterMs }) =>
      console.log(
        `${round}: ${disruption} for ${downMs} ms, heard after ${KIND_NAMES.map((kind) => `${recoveredAfterMs[kind]} ms (${kind})`).join(", ")}`,
      ),
  });
  const late = reports.filter((report) => longest([report]) > RECOVERY_LIMIT_MS).length;
  console.log(
    `${rounds} rounds, none missed, ${late} later than 10 s, the longest after ${longest(reports)} ms`,
  );
  if (values.record) await record(reports, late);
  process.exitCode = late === 0 ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.error(
    `Repeat it with: npm run chaos:kube -- ${values.real ? "--real " : ""}--rounds ${rounds} --seed ${seed}`,
  );
  process.exitCode = 1;
} finally {
  await target.dispose();
}

function longest(reports: readonly RoundReport[]): number {
  return Math.max(0, ...reports.flatMap(({ recoveredAfterMs }) => Object.values(recoveredAfterMs)));
}

async function record(reports: readonly RoundReport[], late: number): Promise<void> {
  const counted = DISRUPTIONS.map(
    (disruption) => [disruption, reports.filter((each) => each.disruption === disruption)] as const,
  );
  const line = {
    campaign: "kube-survival",
    at: new Date(startedAt).toISOString(),
    seconds: Math.round((Date.now() - startedAt) / 1000),
    seed,
    node: process.version,
    server: target.name,
    rounds,
    ...Object.fromEntries(counted.map(([disruption, found]) => [disruption, found.length])),
    longestMs: Object.fromEntries(counted.map(([disruption, found]) => [disruption, longest(found)])),
    late,
  };
  await appendFile(RECORDS, `${JSON.stringify(line)}\n`);
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (Number.isFinite(number) && number > 0) return number;
  console.error(`--${name} must be a number above 0`);
  return process.exit(2);
}
