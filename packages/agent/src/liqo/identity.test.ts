import { Fault } from "@resource-broker/base";
import { CONFIG_MAPS, type ConfigMap } from "@resource-broker/kube";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { fakeCluster } from "../testing/fake-cluster.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { DEPLOYMENTS, type Deployment, liqoIdentity, readIdentity } from "./identity.ts";

const MINUTE_MS = 60_000;
const CONTROLLER = { name: "liqo-controller-manager", namespace: "liqo" };

const configMap = (id: string, app = "clusterid-configmap"): ConfigMap => ({
  metadata: { name: app, namespace: "liqo", labels: { "app.kubernetes.io/name": app } },
  data: { CLUSTER_ID: id },
});
const deployment = (image: string, label?: string): Deployment => {
  const version = label === undefined ? {} : { "app.kubernetes.io/version": label };
  const controller = { name: "controller-manager", image };
  return {
    metadata: { ...CONTROLLER, labels: { "app.kubernetes.io/name": "controller-manager", ...version } },
    spec: { template: { spec: { containers: [{ name: "proxy", image: "proxy:9" }, controller] } } },
  };
};

function world() {
  const time = fakeClock();
  const cluster = fakeCluster(time);
  const log = recordedLog();
  const changes: unknown[] = [];
  const onChange = () => void changes.push(source.identity());
  const source = liqoIdentity("liqo", { client: cluster.client, clock: time, log, onChange });
  const install = (): void => {
    cluster.put(CONFIG_MAPS, configMap("paris-liqo"));
    cluster.put(CONFIG_MAPS, configMap("nobody", "other"));
    cluster.put(DEPLOYMENTS, deployment("liqo:v1.2.0"));
  };
  return { time, cluster, log, changes, source, install };
}

describe("this cluster's identity in Liqo", () => {
  test("is absent without Liqo, and noticed when Liqo comes, changes and goes", async () => {
    const { source, install, changes, time, cluster } = world();
    await source.start();
    install();
    await time.advance(MINUTE_MS);
    cluster.edit(DEPLOYMENTS, CONTROLLER, () => deployment("liqo:v1.3.0"));
    await time.advance(10 * MINUTE_MS);
    cluster.remove(CONFIG_MAPS, { name: "clusterid-configmap", namespace: "liqo" });
    await time.advance(MINUTE_MS);
    expect(changes).toEqual([
      undefined,
      { clusterId: "paris-liqo", version: "v1.2.0" },
      { clusterId: "paris-liqo", version: "v1.3.0" },
      undefined,
    ]);
    await source.stop();
  });

  test("stays known while the API server is away", async () => {
    const { source, install, time, cluster } = world();
    install();
    await source.start();
    cluster.down();
    await time.advance(10 * MINUTE_MS);
    expect(source.identity()?.clusterId).toBe("paris-liqo");
    cluster.up();
    await source.stop();
  });

  test("does not hold up the start", async () => {
    const { source, time, cluster } = world();
    cluster.setCallFaults(() => ({ until: new Promise(() => undefined) }));
    const started = source.start();
    await time.advance(5000);
    await started;
    expect(source.identity()).toBeUndefined();
  });

  test("says once how to let the agent look, and looks again later", async () => {
    const { source, install, time, cluster, log } = world();
    cluster.setCallFaults(() => ({ fault: new Fault("forbidden", "may not list configmaps (core group)") }));
    await source.start();
    await time.advance(60 * MINUTE_MS);
    const shown = log.lines.filter((line) => line.includes("may not list configmaps"));
    expect(shown).toEqual([expect.stringContaining("apply deploy/rbac/agent-liqo.yaml")]);
    install();
    cluster.setCallFaults(undefined);
    await time.advance(10 * MINUTE_MS);
    expect(source.identity()?.version).toBe("v1.2.0");
    await source.stop();
  });

  const DIGEST = `sha256:${"0".repeat(64)}`;
  test.each<[string, Deployment[], string]>([
    ["is the tag of its controller's image", [deployment("liqotech/manager:v1.2.0", "v9")], "v1.2.0"],
    ["is read beside a registry's port", [deployment("registry:5000/liqo/manager:v1.2.0")], "v1.2.0"],
    ["is not a registry's port", [deployment("registry:5000/liqo/manager", "v1.2.0")], "v1.2.0"],
    ["is the chart's label beside a digest", [deployment(`liqo@${DIGEST}`, "v1.2.1")], "v1.2.1"],
    ["is that also where a digest follows a tag", [deployment(`liqo:v1@${DIGEST}`, "v1.2.1")], "v1.2.1"],
    ["may be a commit", [deployment("liqo-ci:3f2a9c")], "3f2a9c"],
    ["is unknown where nothing says it", [deployment("liqo")], "unknown"],
    ["is unknown without its controller", [], "unknown"],
    ["is unknown where the label is empty", [deployment("liqo", "")], "unknown"],
    ["is never longer than the broker takes", [deployment(`liqo:${"x".repeat(200)}`)], "x".repeat(63)],
  ])("has a version, which %s", (_, deployments, version) => {
    const identity = { clusterId: "rome-liqo", version };
    expect(readIdentity({ configMaps: [configMap("rome-liqo")], deployments })).toEqual({
      kind: "found",
      identity,
    });
  });

  const STRANGE = ["", "Rome", "a b", "-x", "../x", "x".repeat(64)];
  test.each<[string[], string]>([
    [[], "absent"],
    [["a", "b"], "unclear"],
    [["a", "a"], "found"],
    ...STRANGE.map((id): [string[], string] => [[id], "unclear"]),
  ])("with ConfigMaps that name %j is %s", (ids, kind) => {
    const configMaps = ids.map((id) => configMap(id));
    expect(readIdentity({ configMaps, deployments: [] }).kind).toBe(kind);
  });
});
