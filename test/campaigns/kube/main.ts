/**
 * `npm run chaos:kube -- --rounds 50`: kills, pauses and cuts kube-sim under running informers, with the limits they
 * have in production. `--real` takes a real API server, `--seed S` repeats a run's choices, `--record` appends the
 * result to docs/campaigns.jsonl.
 */
import { ANY_SEED, campaignProgram } from "../frame/campaign.ts";
import { SERVER_FAULTS } from "../frame/faulty-servers.ts";
import { KIND_NAMES } from "./objects.ts";
import { type RoundReport, runChaos } from "./run-chaos.ts";
import { realServer, simServer } from "./target-server.ts";

const MAX_DOWN_MS = 2_000;
/** An informer knows of a new object so soon after its server is back. */
const RECOVERY_LIMIT_MS = 10_000;
const FLAGS = { rounds: 50, seed: ANY_SEED, real: false };

await campaignProgram("chaos:kube", FLAGS, async ({ rounds, seed, real }) => {
  const target = await (real ? realServer() : simServer());
  console.log(`seed ${seed}: ${target.name}, ${rounds} rounds`);
  const reports: RoundReport[] = [];
  const violations: string[] = [];
  const onRound = (report: RoundReport): void => {
    reports.push(report);
    const { round, disruption, downMs, recoveredAfterMs } = report;
    const heard = KIND_NAMES.map((kind) => `${recoveredAfterMs[kind]} ms (${kind})`).join(", ");
    console.log(`${round}: ${disruption} for ${downMs} ms, heard after ${heard}`);
  };
  try {
    await runChaos({ target, rounds, seed, longestMs: MAX_DOWN_MS, onRound });
  } catch (error) {
    violations.push(error instanceof Error ? error.message : String(error));
  } finally {
    await target.dispose();
  }
  const late = reports.filter((report) => longest([report]) > RECOVERY_LIMIT_MS).length;
  console.log(`${reports.length} rounds, ${late} later than 10 s, the longest after ${longest(reports)} ms`);
  if (late > 0) violations.push(`an informer was late in ${late} rounds`);
  const counted = SERVER_FAULTS.map(
    (disruption) => [disruption, reports.filter((each) => each.disruption === disruption)] as const,
  );
  const figures = {
    seed,
    server: target.name,
    rounds,
    ...Object.fromEntries(counted.map(([disruption, found]) => [disruption, found.length])),
    longestMs: Object.fromEntries(counted.map(([disruption, found]) => [disruption, longest(found)])),
    late,
  };
  return { campaign: "kube-survival", figures, violations };
});

function longest(reports: readonly RoundReport[]): number {
  return Math.max(0, ...reports.flatMap(({ recoveredAfterMs }) => Object.values(recoveredAfterMs)));
}
