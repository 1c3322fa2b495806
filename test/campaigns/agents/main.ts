/**
 * `npm run chaos:agents -- --rounds 50 --real`: kills, pauses and cuts off API servers under running agents, and looks
 * for what they missed, lost or doubled. Without `--real` the servers are kube-sim. `--seed S` repeats a run's choices,
 * `--record` appends the result to docs/campaigns.jsonl.
 */
import { ANY_SEED, campaignProgram } from "../frame/campaign.ts";
import { realServers, simulatedServers } from "../frame/faulty-servers.ts";
import { runCampaign } from "./campaign.ts";

/** Each agent acts again so soon after its API server is back. */
const PROMISED_MS = 10_000;
const FLAGS = { rounds: 50, seed: ANY_SEED, real: false };

await campaignProgram("chaos:agents", FLAGS, async ({ rounds, seed, real }) => {
  const peers = real ? "real API servers" : "kube-sim";
  console.log(`seed ${seed}: 2 agents on ${peers}, ${rounds} rounds`);
  const { violations, slowestMs, ...counts } = await runCampaign({
    rounds,
    seed,
    servers: real ? realServers() : simulatedServers(),
    print: (line) => console.log(line),
  });
  const { rounds: done, requests } = counts;
  console.log(
    `${done} rounds: ${requests} requests, slowest to act again ${(slowestMs / 1000).toFixed(1)} s`,
  );
  const late =
    slowestMs > PROMISED_MS ? [`an agent needed more than ${PROMISED_MS / 1000} s to act again`] : [];
  return {
    campaign: "agents-api-server",
    figures: { seed, peers, ...counts, slowestMs: Math.round(slowestMs) },
    violations: [...violations, ...late],
  };
});
