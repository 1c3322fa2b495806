import { controlPlaneAssets } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { runCampaign } from "../../campaign.ts";
import { realServers } from "../../../frame/faulty-servers.ts";

const TIMEOUT_MS = 600_000;
const ROUNDS = 5;
/** Its first five rounds have all three kinds of harm, and both clusters. */
const SEED = 5;

describe.skipIf(!controlPlaneAssets().isThere)(
  "agents whose API servers are killed, paused and cut off",
  () => {
    test("miss nothing, lose nothing and double nothing", { timeout: TIMEOUT_MS }, async () => {
      const print = (line: string): void => void process.stdout.write(`${line}\n`);
      const result = await runCampaign({ rounds: ROUNDS, seed: SEED, servers: realServers(), print });
      // How soon they act again is printed and not asserted: a busy machine is no failure.
      expect(result).toMatchObject({ rounds: ROUNDS, violations: [] });
    });
  },
);
