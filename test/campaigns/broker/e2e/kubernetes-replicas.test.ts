import { expect, onTestFinished, test } from "vitest";
import { runCampaign } from "../campaign.ts";
import { kubernetesLedger, simulatedApiServer } from "../kubernetes-ledger.ts";
import { replicaSet } from "../replica-set.ts";

/** Fixed: everyday runs repeat, and campaigns look elsewhere. */
const SEED = 8;
const STRIKES = 2;
/** A guard only: a busy machine is no failure. */
const TIMEOUT_MS = 300_000;

test(
  "two replicas on a ledger in Kubernetes lose and double nothing when their leader is struck",
  async () => {
    const server = await simulatedApiServer();
    onTestFinished(server.dispose);
    const { strikes, acknowledged, violations } = await runCampaign({
      seed: SEED,
      strikes: STRIKES,
      newTarget: async (number) =>
        replicaSet({
          ledger: await kubernetesLedger(server, { namespace: `ledger-${number}`, replicas: 2 }),
          leaseMs: 2000,
        }),
      print: () => undefined,
      now: () => performance.now(),
    });
    expect(violations).toEqual([]);
    expect(strikes).toHaveLength(STRIKES);
    expect(acknowledged).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
