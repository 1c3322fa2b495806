import { Fault } from "@resource-broker/base";
import { CONFIG_MAPS } from "@resource-broker/kube";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { fakeCluster } from "../../testing/fake-cluster.ts";
import { recordedLog } from "../../testing/recorded-log.ts";
import { liqoIdentity } from "./liqo-identity.ts";
import { DEPLOYMENTS } from "./read-identity.ts";

const MINUTE_MS = 60_000;
const CONFIG_MAP = { name: "liqo-clusterid-configmap", namespace: "liqo" };

function world() {
  const time = fakeClock();
  const cluster = fakeCluster(time);
  const log = recordedLog();
  const changes: unknown[] = [];
  const source = liqoIdentity({ namespace: "liqo" }, { client: cluster.client, clock: time, log });
  source.onChange(() => void changes.push(source.current()));
  return {
    time,
    cluster,
    log,
    changes,
    source,
    /** As the chart installs it. */
    install: (version: string) => {
      const labels = (name: string) => ({
        "app.kubernetes.io/name": name,
        "app.kubernetes.io/version": version,
      });
      cluster.put(CONFIG_MAPS, {
        metadata: { ...CONFIG_MAP, labels: labels("clusterid-configmap") },
        data: { CLUSTER_ID: "paris-liqo" },
      });
      cluster.put(CONFIG_MAPS, {
        metadata: { name: "other", namespace: "liqo", labels: labels("other") },
        data: { CLUSTER_ID: "nobody" },
      });
      const image = `liqo-controller-manager:${version}`;
      cluster.put(DEPLOYMENTS, {
        metadata: {
          name: "liqo-controller-manager",
          namespace: "liqo",
          labels: labels("controller-manager"),
        },
        spec: { template: { spec: { containers: [{ name: "controller-manager", image }] } } },
      });
    },
  };
}

describe("this cluster's identity in Liqo", () => {
  test("is known when the first look is over", async () => {
    const { source, install, changes } = world();
    install("v1.2.0");
    await source.start();
    expect(source.current()).toEqual({ clusterId: "paris-liqo", version: "v1.2.0" });
    expect(changes).toHaveLength(1);
    await source.stop();
  });

  test("is absent without Liqo, and noticed when Liqo comes, changes and goes", async () => {
    const { source, install, changes, time, cluster } = world();
    await source.start();
    expect(source.current()).toBeUndefined();
    install("v1.2.0");
    await time.advance(MINUTE_MS);
    cluster.edit(DEPLOYMENTS, { name: "liqo-controller-manager", namespace: "liqo" }, (deployment) => ({
      ...deployment,
      spec: { template: { spec: { containers: [{ name: "controller-manager", image: "liqo:v1.3.0" }] } } },
    }));
    await time.advance(10 * MINUTE_MS);
    cluster.remove(CONFIG_MAPS, CONFIG_MAP);
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
    install("v1.2.0");
    await source.start();
    cluster.down();
    await time.advance(10 * MINUTE_MS);
    expect(source.current()?.clusterId).toBe("paris-liqo");
    cluster.up();
    await source.stop();
  });

  test("does not hold up the start", async () => {
    const { source, time, cluster } = world();
    cluster.setCallFaults(() => ({ until: new Promise(() => undefined) }));
    const started = source.start();
    await time.advance(5000);
    await started;
    expect(source.current()).toBeUndefined();
  });

  test("says once how to let the agent look, and looks again later", async () => {
    const { source, install, time, cluster, log } = world();
    cluster.setCallFaults(() => ({ fault: new Fault("forbidden", "may not list configmaps (core group)") }));
    await source.start();
    await time.advance(60 * MINUTE_MS);
    const shown = log.lines.filter((line) => line.includes("may not list configmaps"));
    expect(shown).toEqual([expect.stringContaining("apply deploy/rbac/agent-liqo.yaml")]);
    install("v1.2.0");
    cluster.setCallFaults(undefined);
    await time.advance(10 * MINUTE_MS);
    expect(source.current()?.version).toBe("v1.2.0");
    await source.stop();
  });
});
