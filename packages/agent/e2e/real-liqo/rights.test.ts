import { NAMESPACE_OFFLOADINGS, VIRTUAL_NODES } from "@resource-broker/agent/liqo";
import { type KubeClient, ROLE_BINDINGS, SECRETS } from "@resource-broker/kube";
import {
  kubeClientFor,
  RESOURCE_REQUESTS,
  until,
  WHOLE_PODS,
  type WholePod,
  type WorldCluster,
} from "@resource-broker/testkit";
import { beforeAll, describe, expect, onTestFailed, test } from "vitest";
import { askFor, untilActive } from "../testing/resource-request.ts";
import { type RealLiqoWorld, startRealLiqoWorld } from "./testing/real-liqo-world.ts";
import { deploy } from "./testing/workloads.ts";

const TIMEOUT_MS = 600_000;
const AGENT = { namespace: "rear-agent", name: "resource-broker-agent" };
const TENANT = "liqo-tenant-liqo-paris";

describe("an agent with the shipped rights and rules, with the real Liqo", () => {
  let world: RealLiqoWorld;
  let rome: WorldCluster;
  let agent: KubeClient;
  const nodes = { with: "", without: "" };

  beforeAll(async () => {
    world = await startRealLiqoWorld([
      { name: "rome", nodes: [{ cpu: "8", memory: "32Gi", ephemeralStorage: "50Gi" }] },
      { name: "paris", nodes: [{ cpu: "16", memory: "64Gi", ephemeralStorage: "200Gi" }] },
    ]);
    rome = world.cluster("rome");
    agent = kubeClientFor(await world.liqo.cluster("rome").plane.kubeconfigFor(AGENT));
    return async () => {
      agent.close();
      await world.dispose();
    };
  }, TIMEOUT_MS);

  test("peers as itself, and has its rights over Secrets in the tenant namespace alone", async () => {
    onTestFailed(() => world.printLastLines());
    await askFor(rome, "with", { offload: { namespaces: ["default"] } });
    nodes.with = (await untilActive(rome, "with")).reservationName;
    const name = "resource-broker-agent-liqo-tenant";
    const binding = await rome.client.get(ROLE_BINDINGS, { name, namespace: TENANT });
    expect(binding.subjects).toMatchObject([
      { name: `system:serviceaccount:${AGENT.namespace}:${AGENT.name}` },
    ]);
    const seen: string[] = [];
    await agent.list(SECRETS, { namespace: TENANT }, ({ metadata }) => void seen.push(metadata.name));
    expect(seen).toContain("liqo-signed-nonce");
    for (const namespace of ["default", "liqo", undefined]) {
      const listing = agent.list(SECRETS, namespace === undefined ? {} : { namespace }, () => undefined);
      await expect(listing).rejects.toThrow("may not list secrets");
    }
    const change = (body: object) =>
      agent.patch(VIRTUAL_NODES, {
        name: { name: nodes.with, namespace: TENANT },
        patch: { kind: "merge", body },
      });
    await expect(change({ spec: { labels: { a: "b" } } })).rejects.toThrow("metadata of virtual nodes");
    await expect(change({ metadata: { annotations: { a: "b" } } })).resolves.toBeDefined();
  });

  test("leaves no pod stuck on the node of another reservation when the one of its namespace ends", async () => {
    onTestFailed(() => world.printLastLines());
    await askFor(rome, "without");
    nodes.without = (await untilActive(rome, "without")).reservationName;
    await rome.until(
      NAMESPACE_OFFLOADINGS,
      "offloading",
      ({ status }) => status?.offloadingPhase === "Ready",
    );
    const pod = { namespace: "default", replicas: 1, requests: { cpu: "1" } };
    const direction = { requester: rome };
    await deploy(direction, { ...pod, name: "one" }, { node: nodes.with, by: "preference" });
    await deploy(direction, { ...pod, name: "other" }, { node: nodes.without, by: "preference" });
    const placeOf = ({ metadata, spec, status }: WholePod): string =>
      [metadata.labels?.["app"], spec?.nodeName, status?.reason ?? status?.phase].join(" ");
    const untilPlaced = (
      wanted: readonly string[],
      onMisplaced: (pods: readonly WholePod[]) => Promise<void> = async () => undefined,
    ) =>
      until(`pods are at ${wanted.join(", ")}`, async () => {
        const pods = await rome.list(WHOLE_PODS);
        const found = pods.map(placeOf).sort();
        if (JSON.stringify(found) === JSON.stringify([...wanted].sort())) return true;
        await onMisplaced(pods.filter((each) => !wanted.includes(placeOf(each))));
        throw new Error(found.join(", "));
      });
    // A preference binds nobody, and kube-scheduler may hear late of a new node: what runs at home is made again.
    const makeAgain = async (pods: readonly WholePod[]): Promise<void> => {
      for (const { metadata, spec, status } of pods) {
        const isAtHome = spec?.nodeName === "rome-1" && status?.phase === "Running";
        if (isAtHome && metadata.deletionTimestamp === undefined)
          await rome.client.delete(WHOLE_PODS, metadata);
      }
    };
    // Its namespace is the other reservation's guest: Liqo cannot hold pods to one node of a cluster.
    await untilPlaced([`one ${nodes.with} Running`, `other ${nodes.without} Running`], makeAgain);
    await rome.client.delete(RESOURCE_REQUESTS, { name: "with", namespace: "default" });
    await untilPlaced(["one rome-1 Running", "other rome-1 Running"]);
    await rome.untilGone(NAMESPACE_OFFLOADINGS, "offloading");
    expect((await untilActive(rome, "without")).reservationName).toBe(nodes.without);
  });
});
