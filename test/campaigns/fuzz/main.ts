/**
 * `npm run fuzz:api -- --minutes 30`: everything that a client could send and should not, against a real broker: calls
 * and bodies from openapi.json, right and wrong, broken JSON, smuggling, noise, wrong certificates, slow clients. There
 * must be no crash, no server error, nothing wrong accepted, and no growing memory. `--seed S` repeats the choices of a
 * run, `--record` appends the result to docs/campaigns.jsonl.
 */
import { readFile } from "node:fs/promises";
import { seededRandom, startBroker, testCertificates } from "@resource-broker/testkit";
import { ANY_SEED, campaignProgram } from "../frame/campaign.ts";
import { readContract } from "./contract.ts";
import { openFuzzEnvironment } from "./environment.ts";
import { runFuzz } from "./run-fuzz.ts";

const MINUTE_MS = 60_000;
const OPENAPI = new URL(import.meta.resolve("@resource-broker/contract/openapi.json"));

await campaignProgram("fuzz:api", { minutes: 0.5, seed: ANY_SEED }, async ({ minutes, seed }) => {
  const contract = readContract(await readFile(OPENAPI, "utf8"));
  const certificates = await testCertificates();
  const broker = await startBroker({ certificates });
  console.log(`seed ${seed}: ${minutes} minutes against a broker with pid ${broker.pid}`);
  const env = await openFuzzEnvironment({ broker, certificates, contract });
  const { attacks, problems, ...memory } = await runFuzz(env, {
    random: seededRandom(seed),
    untilMs: Date.now() + minutes * MINUTE_MS,
    now: Date.now,
    print: (line) => console.log(line),
  });
  env.close();
  await broker.dispose();
  const total = [...attacks.values()].reduce((sum, count) => sum + count, 0);
  for (const [name, count] of attacks) console.log(`${String(count).padStart(9)}  ${name}`);
  const { firstMb, lastMb } = memory;
  console.log(`${total} attacks, ${problems.length} problems; memory ${firstMb} MB, then ${lastMb} MB`);
  const figures = { seed, minutes, attacks: total, ...memory };
  return { campaign: "api-fuzz", figures, violations: problems };
});
