import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CONFIG_MAPS, type ConfigMap } from "@resource-broker/kube";
import { fakeClock, installedLiqo, simulatedControlPlanes, until } from "@resource-broker/testkit";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { settingsOf } from "../settings/testing/read-settings.ts";
import { fakeCluster } from "../testing/fake-cluster.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { openDataPlane } from "./liqo-data-plane.ts";
import { RESOURCE_SLICES } from "./objects.ts";
import { liqoInMemory } from "./requester/testing/liqo-in-memory.ts";
import { aDeliverySpec, DELIVERY_A, ID_A, NOW } from "./requester/testing/samples.ts";

let folder = "";
/** A liqoctl that prints its arguments, and fails. */
const program = (): string => join(folder, "liqoctl");

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "liqo-data-plane-"));
  await writeFile(program(), `#!/bin/sh\nprintf '%s\\n' "$@"\nexit 1\n`, { mode: 0o700 });
  const planes = simulatedControlPlanes();
  const { kubeconfig } = await planes.start("paris", installedLiqo("calm-paris"));
  await writeFile(join(folder, "paris.kubeconfig"), kubeconfig);
  return async () => {
    await planes.stop();
    await rm(folder, { recursive: true });
  };
});

/** rome's data plane with these flags, in a cluster with Liqo. */
async function opened(flags: readonly string[]) {
  const clock = fakeClock(NOW);
  const cluster = fakeCluster(clock);
  for (const object of installedLiqo("cool-rome"))
    if (object["kind"] === "ConfigMap") cluster.put(CONFIG_MAPS, object as unknown as ConfigMap);
  const settings = await settingsOf([`--kubeconfigs-dir=${folder}`, `--liqoctl=${program()}`, ...flags]);
  const { requester, stop } = openDataPlane(settings, {
    clusterId: "rome",
    client: cluster.client,
    clock,
    random: () => 0.5,
    log: recordedLog([]),
    env: { PATH: "/usr/bin:/bin" },
  });
  onTestFinished(stop);
  return { cluster, requester };
}

describe("the data plane of these flags", () => {
  test.each([
    ["--liqo-networking=false", "--networking-disabled=true"],
    ["--context=rome-admin", "--context=rome-admin"],
    ["--kubeconfig=/k/rome", "--kubeconfig=/k/rome"],
    ["--liqo-gateway-type=ClusterIP", "--gw-server-service-type=ClusterIP"],
    ["--liqo-timeout=3m", "--timeout=3m"],
  ])("%s starts liqoctl with %s", async (flag, argument) => {
    const { requester } = await opened([flag]);
    const message = await until("liqoctl has ended", async () => {
      const state = await requester.establish(DELIVERY_A);
      if (state.reason === "PeeringFailed") return state.message;
      throw new Error(`${state.reason}: ${state.message}`);
    });
    expect(message.split(/;?\s/)).toContain(argument);
  });

  test("--gpu-resources asks for GPUs by the first of its names", async () => {
    const { cluster, requester } = await opened(["--gpu-resources=amd.com/gpu,nvidia.com/gpu"]);
    liqoInMemory(cluster).setPeered(true);
    const requestedResources = { cpu: "1", memory: "1Gi", gpu: "2" };
    await requester.establish(aDeliverySpec({ id: ID_A, requestedResources }));
    expect(cluster.all(RESOURCE_SLICES)[0]?.spec.resources).toMatchObject({ "amd.com/gpu": "2" });
  });
});
