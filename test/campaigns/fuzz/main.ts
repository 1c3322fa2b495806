/**
 * `npm run fuzz:api -- --minutes 30`: everything that a client could send and should not, against a real broker: calls
 * and bodies from openapi.json, right and wrong, broken JSON, smuggling, noise, wrong certificates, slow clients. There
 * must be no crash, no server error, nothing wrong accepted, and no growing memory. `--seed S` repeats the choices of a
 * run, `--record` appends the result to docs/campaigns.jsonl.
 */
import { readFile } from "node:fs/promises";
import {
  readFlags,
  recordCampaign,
  seededRandom,
  startBroker,
  testCertificates,
} from "@resource-broker/testkit";
import { readContract } from "./contract.ts";
import { openFuzzEnvironment } from "./environment.ts";
import { runFuzz } from "./run-fuzz.ts";

const MINUTE_MS = 60_000;
const SHOWN_PROBLEMS = 10;

const flags = readFlags(process.argv.slice(2), [
  ["minutes", 0.5],
  ["seed", Date.now() % 1_000_000_000],
]);
if (!flags.ok) {
  console.error(flags.problem);
  process.exit(2);
}
const { minutes = 0, seed = 0 } = flags.numbers;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const startedAt = Date.now();
const document = await readFile(
  new URL(import.meta.resolve("@resource-broker/contract/openapi.json")),
  "utf8",
);
const certificates = await testCertificates();
const broker = await startBroker({ certificates });
console.log(`seed ${seed}: ${minutes} minutes against a broker with pid ${broker.pid}`);
const env = await openFuzzEnvironment({ broker, certificates, contract: readContract(document) });
const result = await runFuzz(env, {
  random: seededRandom(seed),
  untilMs: Date.now() + minutes * MINUTE_MS,
  now: Date.now,
  print: (line) => console.log(line),
});
env.close();
await broker.dispose();

const { attacks, problems, ...memory } = result;
const total = [...attacks.values()].reduce((sum, count) => sum + count, 0);
for (const [name, count] of attacks) console.log(`${String(count).padStart(9)}  ${name}`);
console.log(
  `${total} attacks, ${problems.length} problems; memory ${memory.firstMb} MB, then ${memory.lastMb} MB`,
);
for (const problem of problems.slice(0, SHOWN_PROBLEMS)) console.error(`PROBLEM: ${problem}`);
if (problems.length > 0)
  console.error(`Repeat it with: npm run fuzz:api -- --minutes ${minutes} --seed ${seed}`);
if (flags.isRecorded)
  await recordCampaign(
    { campaign: "api-fuzz", seed, minutes, attacks: total, ...memory, violations: problems.length },
    { startedAt, endedAt: Date.now() },
  );
process.exit(problems.length === 0 ? 0 : 1);
