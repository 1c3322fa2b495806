import { join } from "node:path";
import {
  CONFIG_MAPS,
  type KubeClient,
  NAMESPACES,
  NODES,
  PODS,
  ROLE_BINDINGS,
  SECRETS,
} from "@resource-broker/kube";
import {
  controlPlaneAssets,
  kubeClientFor,
  nodeObject,
  type RealControlPlane,
  startControlPlane,
  until,
} from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const DEPLOY = join(import.meta.dirname, "../..");
const START_TIMEOUT_MS = 600_000;
const AGENT = { namespace: "rear-agent", name: "resource-broker-agent" };
const BROKER = { namespace: "resource-broker-system", name: "resource-broker" };
const FILES = [
  "rbac/agent.yaml",
  "rbac/agent-liqo.yaml",
  "admission/agent-liqo.yaml",
  "rbac/broker.yaml",
  "rbac/broker-store.yaml",
  "admission/broker-store.yaml",
];

describe.skipIf(!controlPlaneAssets().isThere)("what no role can say, on a real API server", () => {
  let plane: RealControlPlane;
  let agent: KubeClient;
  let broker: KubeClient;

  beforeAll(async () => {
    plane = await startControlPlane({ name: "admission" });
    for (const name of ["liqo", "liqo-tenant-oslo"]) await kubectl("create", "namespace", name);
    for (const file of FILES) await kubectl("apply", "-f", join(DEPLOY, file));
    const virtual = nodeObject("rsv-rome-a", { cpu: "4", memory: "8Gi" });
    await plane.seed([
      nodeObject("worker", { cpu: "4", memory: "8Gi" }),
      { ...virtual, metadata: { name: "rsv-rome-a", labels: { "liqo.io/type": "virtual-node" } } },
      pod("of-people", "worker"),
      pod("on-virtual-node", "rsv-rome-a"),
      pod("run-elsewhere", "worker", { "liqo.io/shadowPod": "true" }),
      pod("waits", undefined),
      pod("waits-for-liqo", undefined, {}, [{ key: "virtual-node.liqo.io/not-allowed", operator: "Exists" }]),
      configMap("liqo", "of-liqo"),
      configMap("default", "of-people"),
    ]);
    agent = kubeClientFor(await plane.kubeconfigFor(AGENT));
    broker = kubeClientFor(await plane.kubeconfigFor(BROKER));
    // A policy counts a moment after it is written.
    for (const [who, namespace] of [
      [agent, "liqo"],
      [broker, "default"],
    ] as const) {
      await until("the policies are in force", async () => {
        const word = await ended(who.create(CONFIG_MAPS, configMap(namespace, "probe")));
        if (word.includes("ConfigMaps")) return true;
        await plane.request("DELETE", `/api/v1/namespaces/${namespace}/configmaps/probe`);
        throw new Error(word);
      });
    }
  }, START_TIMEOUT_MS);
  afterAll(() => plane?.dispose(), START_TIMEOUT_MS);

  const kubectl = async (...args: string[]): Promise<void> => {
    const { exitCode, stderr } = await plane.kubectl(args);
    if (exitCode !== 0) throw new Error(stderr);
  };
  const rightsInForce = () =>
    until("the API server goes by the new binding", () =>
      agent.list(SECRETS, { namespace: "liqo-tenant-paris" }, () => undefined),
    );
  const CORDON = { kind: "merge", body: { spec: { unschedulable: true } } } as const;
  const LABEL = { "broker.fluidos.eu/ledger": "page" };

  const cordon = (name: string) => () => agent.patch(NODES, { name: { name }, patch: CORDON });
  const endNode = (name: string) => () => agent.delete(NODES, { name });
  const endPod = (name: string) => () => agent.delete(PODS, { name, namespace: "default" });
  const endMap = (name: string) => () => agent.delete(CONFIG_MAPS, { name, namespace: "liqo" });
  const space = (name: string) => () => agent.create(NAMESPACES, namespaceOf(name));
  const endSpace = (name: string) => () => agent.delete(NAMESPACES, { name });
  const bind = (more: Parameters<typeof binding>[0]) => () => agent.create(ROLE_BINDINGS, binding(more));
  const keep = (name: string, type: string) => () => agent.create(SECRETS, secret(name, type));

  test.each<[string, string, () => Promise<unknown>]>([
    ["a virtual node", "done", cordon("rsv-rome-a")],
    ["a worker", "virtual nodes", cordon("worker")],
    ["a worker's end", "virtual nodes", endNode("worker")],
    ["a pod of people", "pods on virtual", endPod("of-people")],
    ["a pod on a virtual node", "done", endPod("on-virtual-node")],
    ["a pod run elsewhere", "done", endPod("run-elsewhere")],
    ["a pod that waits", "pods on virtual", endPod("waits")],
    ["a pod that waits for Liqo", "done", endPod("waits-for-liqo")],
    ["a peering's mark", "done", () => agent.create(CONFIG_MAPS, configMap("liqo", "liqo-peering-paris"))],
    ["its end", "done", endMap("liqo-peering-paris")],
    ["Liqo's ConfigMap", "liqo-peering", () => agent.update(CONFIG_MAPS, configMap("liqo", "of-liqo"))],
    ["the end of Liqo's ConfigMap", "liqo-peering", endMap("of-liqo")],
    ["the virtual node's end", "done", endNode("rsv-rome-a")],
    ["a tenant namespace", "done", space("liqo-tenant-paris")],
    ["another namespace", "liqo-tenant-", space("mine")],
    ["its rights there", "done", () => bind({})().then(rightsInForce)],
    ["its rights elsewhere", "to itself", bind({ namespace: "default" })],
    ["another role", "(?:to itself|attempting to grant)", bind({ role: "cluster-admin" })],
    ["rights of others", "to itself", bind({ user: "mallory" })],
    ["a signed nonce", "done", keep("liqo-signed-nonce", "Opaque")],
    ["another Secret", "liqo-signed-nonce", keep("other", "Opaque")],
    [
      "a token of another account",
      "liqo-signed-nonce",
      keep("liqo-signed-nonce", "kubernetes.io/service-account-token"),
    ],
    ["the end of a namespace of people", "cannot delete|may not delete", endSpace("default")],
    ["a tenant namespace's end", "done", endSpace("liqo-tenant-paris")],
  ])("an agent writes %s: %s", async (_, word, write) => {
    expect(await ended(write())).toMatch(new RegExp(word));
  });

  test("an agent with its rights in one tenant namespace has none in the next", async () => {
    const other = { ...secret("liqo-signed-nonce", "Opaque") };
    const elsewhere = { ...other, metadata: { ...other.metadata, namespace: "liqo-tenant-oslo" } };
    expect(await ended(agent.create(SECRETS, elsewhere))).toMatch("may not create secrets");
  });

  const update =
    (name: string, labels = {}) =>
    () =>
      broker.update(CONFIG_MAPS, configMap("default", name, labels));
  const end = (name: string) => () => broker.delete(CONFIG_MAPS, { name, namespace: "default" });
  test.each<[string, string, () => Promise<unknown>]>([
    ["a page of its ledger", "done", () => broker.create(CONFIG_MAPS, configMap("default", "page", LABEL))],
    ["a page without its label", "label", update("page")],
    ["somebody else's, with its label", "label", update("of-people", LABEL)],
    ["the end of somebody else's", "label", end("of-people")],
    ["the end of a page", "done", end("page")],
  ])("a broker writes %s: %s", async (_, word, write) => {
    expect(await ended(write())).toContain(word);
  });
});

async function ended(write: Promise<unknown>): Promise<string> {
  return write.then(() => "done", String);
}

function configMap(namespace: string, name: string, labels: Record<string, string> = {}) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace, labels } };
}

function namespaceOf(name: string) {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

const TENANT_ROLE = "resource-broker-agent-liqo-tenant";
const AGENT_USER = `system:serviceaccount:${AGENT.namespace}:${AGENT.name}`;

function binding({ namespace = "liqo-tenant-paris", role = TENANT_ROLE, user = AGENT_USER } = {}) {
  const apiGroup = "rbac.authorization.k8s.io";
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: "RoleBinding",
    metadata: { name: `${role}-${user.length}`, namespace },
    roleRef: { apiGroup, kind: "ClusterRole", name: role },
    subjects: [{ apiGroup, kind: "User", name: user }],
  };
}

function secret(name: string, type: string) {
  const annotations = { "kubernetes.io/service-account.name": "default" };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace: "liqo-tenant-paris", annotations },
    type,
  };
}

function pod(
  name: string,
  nodeName: string | undefined,
  labels: Record<string, string> = {},
  tolerations: readonly object[] = [],
) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", labels },
    spec: {
      ...(nodeName === undefined ? {} : { nodeName }),
      tolerations,
      containers: [{ name: "main", image: "pause" }],
      terminationGracePeriodSeconds: 0,
    },
  };
}
