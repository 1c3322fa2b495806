import {
  POD_CASES,
  type PodCase,
  SANDBOX_CLASS,
  SANDBOX_OVERHEAD,
} from "@resource-broker/accounting/testing";
import { add, NO_RESOURCES, type ResourceVector, resourceVector } from "@resource-broker/base";
import type { KubeClient } from "@resource-broker/kube";
import {
  controlPlaneAssets,
  kubeClientFor,
  nodeObject,
  podObject,
  type RealControlPlane,
  startControlPlane,
} from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allocatedByNode } from "./testing/allocated-resources.ts";
import { observed } from "./testing/observed.ts";

const START_TIMEOUT_MS = 600_000;
const PODS = "/api/v1/namespaces/default/pods";
/** Names of shapes that this API server does not take. */
const REFUSED: readonly string[] = [];
/** kubectl learned of pod-level requests in this release, and forgot about resizes. */
const COUNTS_POD_LEVEL_SINCE = 36;

type JsonObject = ReturnType<typeof nodeObject>;

const named = POD_CASES.map((each) => [each.name, each] as const);

const ONE = { cpu: "1", memory: "1Gi" };
const ONE_POD: ResourceVector = resourceVector({ cpuMillis: 1000, memoryBytes: 1024 ** 3 });
const UNCOUNTED = [
  { node: "virtual", is: { metadata: { labels: { "liqo.io/type": "virtual-node" } } } },
  { node: "not-ready", is: { status: { conditions: [{ type: "Ready", status: "False" }] } } },
  { node: "cordoned", is: { spec: { unschedulable: true } } },
  { node: "tainted", is: { spec: { taints: [{ key: "dedicated", value: "ml", effect: "NoSchedule" }] } } },
];
const HOST = "host-of-a-guest";
const GUEST = { id: "rsv-berlin-guest", origin: "berlin-liqo" };
/** As Liqo labels the pods of others on the lender. */
const GUEST_LABELS = {
  "liqo.io/managed-by": "shadowpod",
  "offloading.liqo.io/origin": GUEST.origin,
  "offloading.liqo.io/nodename": GUEST.id,
  "liqo.io/creator-user": `${GUEST.id}-5f0c9d1a`,
};

describe.skipIf(!controlPlaneAssets().isThere)("allocated, beside kubectl describe node", () => {
  let plane: RealControlPlane;
  let client: KubeClient;
  let leftOut: PodCase["kubectlLeavesOut"];
  let described: ReadonlyMap<string, ResourceVector>;
  const refused: string[] = [];

  beforeAll(async () => {
    plane = await startControlPlane({ name: "nodes" });
    client = kubeClientFor(plane.kubeconfig);
    await plane.seed([SANDBOX, ...POD_CASES.map(({ pod }) => nodeFor(nameIn(pod)))]);
    for (const { name, pod } of POD_CASES) if (!(await create(pod))) refused.push(name);
    await plane.seed([
      ...UNCOUNTED.flatMap(({ node, is }) => [merged(nodeFor(node), is), boundPod(node)]),
      nodeFor(HOST),
      merged(boundPod(HOST), { metadata: { labels: GUEST_LABELS } }),
    ]);
    leftOut = (await kubectlMinor()) < COUNTS_POD_LEVEL_SINCE ? "pod-level" : "resize";
    described = allocatedByNode(await done(["describe", "nodes"]));
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    client?.close();
    await plane?.dispose();
  }, START_TIMEOUT_MS);

  const done = async (args: readonly string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await plane.kubectl(args);
    if (exitCode !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const kubectlMinor = async (): Promise<number> => {
    const { clientVersion } = JSON.parse(await done(["version", "-o", "json"])) as {
      clientVersion: { minor: string };
    };
    return Number.parseInt(clientVersion.minor, 10);
  };
  /** A pod on the node of its name, as its kubelet would report it. */
  const create = async (pod: PodCase["pod"]): Promise<boolean> => {
    const body = { apiVersion: "v1", kind: "Pod", ...pod, spec: { ...pod.spec, nodeName: nameIn(pod) } };
    const made = await plane.request("POST", PODS, body);
    const received = await plane.request("PATCH", `${PODS}/${nameIn(pod)}/status`, { status: pod.status });
    return made.status === 201 && received.status === 200;
  };

  test("there are at least 40 shapes, and this API server takes all but the listed ones", () => {
    expect(POD_CASES.length).toBeGreaterThanOrEqual(40);
    expect(refused).toEqual(REFUSED);
    expect(described.size).toBe(POD_CASES.length + UNCOUNTED.length + 1);
  });

  test.each(named)("%s", async (name, { pod, expected, kubectlLeavesOut }) => {
    const { totals } = await observed(client, { node: nameIn(pod) });
    expect(totals.allocated).toEqual(expected);
    if (refused.includes(name)) return;
    const shown = described.get(nameIn(pod));
    if (kubectlLeavesOut === leftOut) expect(shown).not.toEqual(expected);
    else expect(shown).toEqual(expected);
  });

  test.each(UNCOUNTED)("what runs on a $node node is not the cluster's to count", async ({ node }) => {
    expect(described.get(node)).toEqual(ONE_POD);
    expect((await observed(client, { node })).totals.allocated).toEqual(NO_RESOURCES);
  });

  test("a guest is the use of its reservation, and the cluster's own without one", async () => {
    expect(described.get(HOST)).toEqual(ONE_POD);
    const { totals } = await observed(client, { node: HOST, reservations: [GUEST] });
    expect(totals.allocated).toEqual(NO_RESOURCES);
    expect(totals.usage).toEqual([{ reservationId: GUEST.id, used: ONE_POD }]);
    expect((await observed(client, { node: HOST })).totals.allocated).toEqual(ONE_POD);
  });

  test("all of it together is the sum of its nodes", async () => {
    const rightly = (row: PodCase): ResourceVector =>
      row.kubectlLeavesOut === leftOut ? row.expected : (described.get(nameIn(row.pod)) ?? NO_RESOURCES);
    const { totals } = await observed(client, { reservations: [GUEST] });
    expect(totals.allocated).toEqual(POD_CASES.map(rightly).reduce(add, NO_RESOURCES));
  });

  test("a pod that waits and would fit is counted, though no node has it", async () => {
    await plane.seed([podObject({ name: "waiting", ...ONE })]);
    const before = described.get(HOST);
    expect(allocatedByNode(await done(["describe", "node", HOST])).get(HOST)).toEqual(before);
    const { totals } = await observed(client, { node: HOST, reservations: [GUEST] });
    expect(totals.allocated).toEqual(ONE_POD);
  });
});

const SANDBOX = {
  apiVersion: "node.k8s.io/v1",
  kind: "RuntimeClass",
  metadata: { name: SANDBOX_CLASS },
  handler: SANDBOX_CLASS,
  overhead: { podFixed: SANDBOX_OVERHEAD },
};

function nodeFor(name: string): JsonObject {
  return nodeObject(name, { cpu: "96", memory: "1Ti", gpus: { count: "16", model: "H100" } });
}

/** A running pod of the node's name. */
function boundPod(node: string): JsonObject {
  return merged(podObject({ name: node, ...ONE }), {
    spec: { nodeName: node },
    status: { phase: "Running" },
  });
}

/** The parts of an object with what else is so of each. */
function merged(object: JsonObject, more: Readonly<Record<string, object>>): JsonObject {
  const parts = Object.entries(more).map(([part, is]) => [part, { ...(object[part] as object), ...is }]);
  return { ...object, ...(Object.fromEntries(parts) as JsonObject) };
}

function nameIn({ metadata }: PodCase["pod"]): string {
  return metadata?.name ?? "";
}
