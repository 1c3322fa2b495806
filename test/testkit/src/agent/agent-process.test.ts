import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { PATH } from "@resource-broker/contract";
import { customResourceDefinition, KINDS } from "@resource-broker/contract/crd";
import { createKubeSim, type JsonObject, type SimCluster } from "@resource-broker/kube-sim";
import { systemClock } from "@resource-broker/runtime";
import { expect, onTestFinished, test, vi } from "vitest";
import { type BrokerProcess, startBroker } from "../broker/broker-process.ts";
import { type TestCertificates, testCertificates } from "../certificates/test-certificates.ts";
import { type AgentProcess, type AgentProcessOptions, startAgent } from "./agent-process.ts";

/** Only a guard: real processes on a busy machine take their time. */
const TIMEOUT = { timeout: 60_000 };

interface World {
  readonly broker: BrokerProcess;
  readonly certificates: TestCertificates;
  readonly cluster: SimCluster;
  readonly start: (more?: Partial<AgentProcessOptions>) => Promise<AgentProcess>;
}

/** A broker and the cluster rome with one node. */
async function world(): Promise<World> {
  const certificates = await testCertificates();
  const broker = await startBroker({ certificates });
  onTestFinished(broker.dispose);
  // The real time: the agent is a process of its own.
  const clock = systemClock(() => Math.round(performance.timeOrigin + performance.now()));
  const sim = createKubeSim({ clock, randomBytes });
  onTestFinished(sim.stop);
  const cluster = await sim.addCluster({ name: "rome", objects: [...definitions(), node("rome-1")] });
  return {
    broker,
    certificates,
    cluster,
    start: async (more = {}) => {
      const { kubeconfig } = cluster;
      const agent = await startAgent({ clusterId: "rome", broker, certificates, kubeconfig, ...more });
      onTestFinished(agent.dispose);
      return agent;
    },
  };
}

function definitions(): JsonObject[] {
  // JSON all the way: what is undefined is left out.
  return KINDS.map((kind) => JSON.parse(JSON.stringify(customResourceDefinition(kind))) as JsonObject);
}

function node(name: string): JsonObject {
  const room = { cpu: "8", memory: "32Gi", pods: "110" };
  const conditions = [{ type: "Ready", status: "True" }];
  const status = { capacity: room, allocatable: room, conditions };
  return { apiVersion: "v1", kind: "Node", metadata: { name }, spec: {}, status };
}

const advertised = async (broker: BrokerProcess): Promise<unknown> =>
  (await broker.admin().request("GET", PATH.advertisement("rome"))).body;

test("an agent runs in a process of its own, is ready once it has advertised, and stops when asked", async () => {
  const { broker, start } = await world();
  const agent = await start();
  expect(await advertised(broker)).toMatchObject({
    clusterID: "rome",
    resources: { allocatable: { cpu: "8", memory: "32Gi" } },
  });
  expect(await agent.readiness()).toMatch(/^ok$/m);
  expect(await agent.scrape()).toMatch(/^agent_publish_total\{result="accepted"\} [1-9]/m);
  expect(await agent.stop()).toBe(0);
  expect(agent.pid).toBeUndefined();
  expect(await agent.logLines()).toContainEqual(expect.stringContaining("the agent has stopped"));
});

test("a killed agent comes back on the same ports as another instance", async () => {
  const { broker, start } = await world();
  const agent = await start();
  await vi.waitFor(
    async () => expect(await advertised(broker)).toMatchObject({ clusterID: "rome" }),
    TIMEOUT,
  );
  const { instance } = (await advertised(broker)) as { instance: string };
  expect(await agent.kill("SIGKILL")).toBeNull();
  const { readyAfterMs } = await agent.restart();
  expect(readyAfterMs).toBeGreaterThan(0);
  await vi.waitFor(
    async () =>
      expect(await advertised(broker)).toMatchObject({ instance: expect.not.stringMatching(instance) }),
    TIMEOUT,
  );
});

test("nothing is left behind", async () => {
  const { start } = await world();
  const agent = await start({ waits: false });
  const { pid } = agent;
  await agent.dispose();
  expect(existsSync(dirname(agent.certificateFolder))).toBe(false);
  expect(existsSync(`/proc/${pid}`)).toBe(false);
});

test("an agent that cannot start says why", async () => {
  const { start } = await world();
  await expect(start({ flags: ["--cluster-id=paris"] })).rejects.toThrow("brokerctl certs issue paris");
});
