import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { JOIN_SECRET } from "@resource-broker/contract";
import { SECRETS } from "@resource-broker/kube";
import type { AgentProcess, BrokerProcess } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from "vitest";
import { whyNoHelm } from "../../../../deploy/tests/testing/helm.ts";
import { askFor, isActive } from "../testing/resource-request.ts";
import { logSeen, untilRequest } from "./testing/directions.ts";
import {
  type EmptyClusters,
  joinCluster,
  runBrokerctl,
  startEmptyClusters,
  startInvitingBroker,
} from "./testing/joining.ts";
import { kubeconfigsIn } from "./testing/relay-peerings.ts";

const TIMEOUT_MS = 1_800_000;
const NAMES = ["rome", "paris", "tokyo"] as const;
/** What the first asks of, nobody but paris has; what the second asks of, then nobody but tokyo has. */
const SIZES = { rome: "4", paris: "16", tokyo: "12" } as const;

describe.skipIf(whyNoHelm() !== undefined)(
  "three clusters with the real Liqo, and nothing of ours in them",
  { timeout: TIMEOUT_MS },
  () => {
    let folder: string;
    let broker: BrokerProcess;
    let clusters: EmptyClusters;
    const agents = new Map<string, AgentProcess>();

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "liqo-join-"));
      broker = await startInvitingBroker(folder);
      clusters = await startEmptyClusters(folder, SIZES);
    }, TIMEOUT_MS);
    afterAll(async () => {
      for (const agent of agents.values()) await agent.dispose();
      await clusters?.dispose();
      await broker?.dispose();
      await rm(folder, { recursive: true, force: true });
    }, TIMEOUT_MS);

    test.each(NAMES)("%s joins by brokerctl invite | brokerctl join", async (name) => {
      const { agent, said, token } = await joinCluster({ folder, broker }, clusters.of(name));
      agents.set(name, agent);
      expect(said).toContain(`${name} has joined`);
      await agent.ready();
      const { out } = await runBrokerctl({ folder, broker }, ["get", "members"]);
      expect(out).toMatch(new RegExp(`^${name}\\s+joined`, "m"));
      const secret = { name: JOIN_SECRET.name, namespace: "rear-agent" };
      const { data } = await clusters.of(name).world.client.get(SECRETS, secret);
      expect(Object.keys(data ?? {})).not.toContain(JOIN_SECRET.token);
      const lines = [...(await agent.logLines()), ...(await broker.logLines()), said];
      expect(lines.filter((line) => line.includes(token))).toEqual([]);
    });

    test.each([
      { from: "rome", to: "paris", requestedCPU: "14" },
      { from: "rome", to: "tokyo", requestedCPU: "10" },
    ])("a request in $from is a ready node of $to, by relay", async ({ from, to, requestedCPU }) => {
      onTestFailed(async () => {
        for (const agent of agents.values())
          process.stderr.write(`${(await agent.logLines()).slice(-20).join("\n")}\n`);
      });
      const requester = clusters.of(from).world;
      await askFor(requester, `from-${to}`, { requestedCPU, requestedMemory: "4Gi" });
      const { status } = await untilRequest({ requester }, `from-${to}`, isActive);
      expect(status?.targetClusterID).toBe(to);
      logSeen(`${status?.reservationName} of ${to} is a ready node of ${from}`);
    });

    test("no kubeconfig exists but Liqo's own, and no agent missed a right", async () => {
      const found = await Promise.all(NAMES.map((name) => kubeconfigsIn(clusters.of(name).world)));
      expect(found.flat().sort()).toEqual([
        "rome Secret kubeconfig-controlplane-liqo-paris",
        "rome Secret kubeconfig-controlplane-liqo-tokyo",
        "rome Secret kubeconfig-resourceslice-<slice>",
        "rome Secret kubeconfig-resourceslice-<slice>",
      ]);
      const lines = await Promise.all([...agents.values()].map(({ logLines }) => logLines()));
      expect(lines.flat().filter((line) => /may not|forbidden/.test(line))).toEqual([]);
    });
  },
);
