import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  controlPlaneAssets,
  nodeObject,
  podObject,
  type RealControlPlane,
  startControlPlane,
} from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  joinedKubeconfig,
  type RecordingProxy,
  reportOf,
  runContexts,
  startRecordingProxy,
} from "../testing/contexts-process.ts";

const START_TIMEOUT_MS = 600_000;
const VERBS = ["get", "list", "watch"];
const READER = { name: "reader", namespace: "default" };
const SUBJECT = `system:serviceaccount:${READER.namespace}:${READER.name}`;

/** Somebody who may read what is named, and nothing else. */
function rights(resources: readonly string[]): object[] {
  const group = "rbac.authorization.k8s.io";
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: READER },
    {
      apiVersion: `${group}/v1`,
      kind: "ClusterRole",
      metadata: { name: "reader" },
      rules: [{ apiGroups: [""], resources, verbs: VERBS }],
    },
    {
      apiVersion: `${group}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: "reader" },
      roleRef: { apiGroup: group, kind: "ClusterRole", name: "reader" },
      subjects: [{ kind: "ServiceAccount", ...READER }],
    },
  ];
}

const running = (name: string, nodeName: string, cpu: string) => {
  const pod = podObject({ name, cpu, memory: "4Gi" });
  return { ...pod, spec: { ...(pod["spec"] as object), nodeName }, status: { phase: "Running" } };
};

/** As a scheduler leaves a pod that fits nowhere; none runs here. */
const stuck = (name: string, cpu: string) => {
  const message = "0/1 nodes are available: 1 Insufficient cpu.";
  const unschedulable = { type: "PodScheduled", status: "False", reason: "Unschedulable", message };
  const conditions = [{ ...unschedulable, lastTransitionTime: "2026-07-01T10:00:00Z" }];
  return { ...podObject({ name, cpu, memory: "4Gi" }), status: { phase: "Pending", conditions } };
};

describe.skipIf(!controlPlaneAssets().isThere)("npm start -- --contexts, on real API servers", () => {
  let folder: string;
  let kubeconfig: string;
  const planes: RealControlPlane[] = [];
  const proxies: RecordingProxy[] = [];

  /** The cluster as its reader reaches it: through a proxy that writes everything down. */
  const start = async (name: string, objects: readonly object[]): Promise<string> => {
    const plane = await startControlPlane({ name });
    planes.push(plane);
    await plane.seed([...rights(["nodes", "pods"]), ...objects]);
    const proxy = await startRecordingProxy(plane.port);
    proxies.push(proxy);
    const config = JSON.parse(await plane.kubeconfigFor(READER)) as { clusters: { cluster: object }[] };
    const authority = Buffer.from(proxy.ca).toString("base64");
    const cluster = { server: proxy.url, "certificate-authority-data": authority };
    return JSON.stringify({ ...config, clusters: [{ cluster }] });
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "contexts-real-"));
    const eu = await start("eu", [
      nodeObject("eu-1", { cpu: "4", memory: "16Gi" }),
      running("shop", "eu-1", "3"),
      stuck("batch", "6"),
    ]);
    const us = await start("us", [
      nodeObject("us-1", { cpu: "16", memory: "64Gi" }),
      running("shop", "us-1", "4"),
    ]);
    kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, joinedKubeconfig({ eu, us }));
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await Promise.all(planes.map((plane) => plane.dispose()));
    await rm(folder, { recursive: true, force: true });
  }, START_TIMEOUT_MS);

  test("get, list and watch on nodes and pods are all it needs, and it tries nothing else", async () => {
    for (const plane of planes) {
      const { stdout } = await plane.kubectl(["auth", "can-i", "create", "pods", `--as=${SUBJECT}`]);
      expect(stdout.trim()).toBe("no");
    }
    const { clusters, pending } = await reportOf(kubeconfig, ["eu,us"]);
    expect(clusters).toMatchObject([
      { clusterID: "eu", nodes: 1, available: { cpu: "1", memory: "12Gi" } },
      { clusterID: "us", nodes: 1, available: { cpu: "12", memory: "60Gi" } },
    ]);
    const why = "0/1 nodes are available: 1 Insufficient cpu.";
    const taken = { takenBy: [{ clusterID: "us", pods: 1 }], left: 0 };
    expect(pending).toMatchObject([{ clusterID: "eu", workload: "Pod/batch", why, ...taken }]);
    for (const { seen } of proxies) {
      expect(seen.length).toBeGreaterThan(0);
      expect(seen.filter((call) => !/^GET \/api\/v1\/(nodes|pods)\?/.test(call))).toEqual([]);
    }
  });

  test("a right that is missing is named, with the rule that would give it", async () => {
    await planes[1]?.seed(rights(["nodes"]));
    const { code, stdout } = await runContexts(kubeconfig, ["eu,us"]);
    expect(code).toBe(1);
    expect(stdout).toContain(`us could not be read: user ${SUBJECT} may not list pods`);
    expect(stdout).toContain('{apiGroups: [""], resources: ["pods"], verbs: ["list"]}');
    expect(stdout).toContain("no cluster would take it");
  });
});
