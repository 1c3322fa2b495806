import { randomBytes } from "node:crypto";
import { fakeClock } from "@resource-broker/testkit";
import { beforeEach, describe, expect, test } from "vitest";
import { type ClusterCore, createClusterApi } from "../api/create-cluster-api.ts";
import { CORE_DEFINITIONS, NODES } from "../core/kinds.ts";
import { PODS } from "../core/pods.ts";
import type { JsonObject } from "../json.ts";
import { populateNamespaces, startBehaviour } from "./behaviour.ts";

const WRITE = { dryRun: false, fieldManager: "test", fieldValidation: "Strict" } as const;
const GENTLY = { dryRun: false };
const LONG_ENOUGH_MS = 5000;

let clock: ReturnType<typeof fakeClock>;
let core: ClusterCore;

beforeEach(() => {
  clock = fakeClock();
  core = createClusterApi({ clock, randomBytes, definitions: CORE_DEFINITIONS });
  populateNamespaces(core.api, "certificate");
  startBehaviour({ api: core.api, clock });
});

function addNode(name: string, cpu = "4", ready = "True"): void {
  core.seed(NODES, {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name },
    status: {
      allocatable: { cpu, memory: "8Gi", pods: "10" },
      conditions: [{ type: "Ready", status: ready }],
      addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
    },
  });
}

function addPod(name: string, cpu: string, spec: JsonObject = {}): void {
  const containers = [{ name: "main", image: "i:1", resources: { requests: { cpu } } }];
  core.api.create(
    { definition: PODS, namespace: "default" },
    { metadata: { name }, spec: { containers, ...spec } },
    WRITE,
  );
}

const pod = (name: string): JsonObject => core.api.get({ definition: PODS, namespace: "default", name });
const names = (): readonly unknown[] =>
  core.api.list({ definition: PODS }, {}).items.map(({ metadata }) => (metadata as { name: string }).name);
const deletePod = (name: string): unknown =>
  core.api.delete({ definition: PODS, namespace: "default", name }, GENTLY);

describe("a cluster that behaves", () => {
  test("a pod is placed, started and ready", async () => {
    addNode("n1");
    addPod("web", "1");
    await clock.advance(LONG_ENOUGH_MS);
    expect(pod("web")).toMatchObject({
      spec: { nodeName: "n1" },
      status: {
        phase: "Running",
        podIP: "10.128.0.1",
        hostIP: "10.0.0.1",
        conditions: expect.arrayContaining([expect.objectContaining({ type: "Ready", status: "True" })]),
        containerStatuses: [
          { name: "main", ready: true, state: { running: { startedAt: expect.any(String) } } },
        ],
      },
    });
  });

  test("a pod that fits nowhere says why, and starts when there is room", async () => {
    addNode("n1", "2");
    addPod("first", "2");
    addPod("second", "1");
    await clock.advance(LONG_ENOUGH_MS);
    expect(pod("second")).toMatchObject({
      status: {
        phase: "Pending",
        conditions: [
          {
            type: "PodScheduled",
            status: "False",
            reason: "Unschedulable",
            message: "0/1 nodes are available: 1 Insufficient cpu.",
          },
        ],
      },
    });
    deletePod("first");
    await clock.advance(LONG_ENOUGH_MS);
    expect(names()).toEqual(["second"]);
    expect(pod("second")).toMatchObject({ status: { phase: "Running" } });
  });

  test("no node takes more than it has, however many pods come at once", async () => {
    addNode("n1", "2");
    addNode("n2", "2");
    for (let index = 0; index < 6; index++) addPod(`p${index}`, "1");
    await clock.advance(LONG_ENOUGH_MS);
    const nodes = core.api
      .list({ definition: PODS }, {})
      .items.map(({ spec }) => String((spec as { nodeName?: string }).nodeName ?? ""));
    expect(nodes.toSorted((a, b) => a.localeCompare(b))).toEqual(["", "", "n1", "n1", "n2", "n2"]);
  });

  test("a gated pod waits for its gate", async () => {
    addNode("n1");
    addPod("gated", "1", { schedulingGates: [{ name: "example.com/quota" }] });
    await clock.advance(LONG_ENOUGH_MS);
    expect(pod("gated")).toMatchObject({ status: { conditions: [{ reason: "SchedulingGated" }] } });
    const target = { definition: PODS, namespace: "default", name: "gated" };
    const body = { spec: { schedulingGates: null } };
    core.api.patch(target, { kind: "merge", body }, { ...WRITE, force: false });
    await clock.advance(LONG_ENOUGH_MS);
    expect(pod("gated")).toMatchObject({ status: { phase: "Running" } });
  });

  test("a pod that names its node needs no scheduler, only a node that is ready", async () => {
    addNode("n1", "4", "False");
    addPod("pinned", "1", { nodeName: "n1" });
    await clock.advance(LONG_ENOUGH_MS);
    expect(pod("pinned")).toMatchObject({ status: { phase: "Pending" } });
    addNode("n1");
    await clock.advance(LONG_ENOUGH_MS);
    expect(pod("pinned")).toMatchObject({ status: { phase: "Running" } });
  });

  test("another scheduler's pods are left to it", async () => {
    addNode("n1");
    addPod("theirs", "1", { schedulerName: "other" });
    await clock.advance(LONG_ENOUGH_MS);
    expect(pod("theirs")).not.toHaveProperty("spec.nodeName");
  });

  test("a deleted pod ends when its node lets go of it", async () => {
    addNode("n1");
    addPod("web", "1");
    await clock.advance(LONG_ENOUGH_MS);
    deletePod("web");
    expect(pod("web")).toMatchObject({ metadata: { deletionGracePeriodSeconds: 30 } });
    await clock.advance(LONG_ENOUGH_MS);
    expect(names()).toEqual([]);
  });

  test("pods go with their node", async () => {
    addNode("n1");
    addPod("web", "1");
    await clock.advance(LONG_ENOUGH_MS);
    core.api.delete({ definition: NODES, name: "n1" }, GENTLY);
    await clock.advance(LONG_ENOUGH_MS);
    expect(names()).toEqual([]);
  });
});
