import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  RESOURCE_SLICES,
  type ResourceList,
  type ResourceSlice,
  tenantNamespaceOf,
} from "@resource-broker/agent/liqo";
import { onTestFinished } from "vitest";
import { nodeObject } from "../../world/cluster-plan.ts";
import { simulatedControlPlanes } from "../../world/control-planes.ts";
import { type WorldCluster, worldCluster } from "../../world/world-cluster.ts";
import { looseLiqoDefinitions } from "../definitions.ts";
import { type FakeLiqo, fakeLiqo } from "../fake-liqo.ts";
import { installedLiqo } from "../install.ts";

export interface TwoClusters {
  readonly rome: WorldCluster;
  readonly paris: WorldCluster;
  readonly liqo: FakeLiqo;
  /** The command line that makes rome a consumer of paris. */
  readonly peerArgs: readonly string[];
  readonly unpeerArgs: readonly string[];
}

/** Liqo's IDs of rome and paris, which are not their names. */
export const ROME = "liqo-rome";
export const PARIS = "liqo-paris";

/** rome consumes, paris provides; both have Liqo and a node, and are not peered. */
export async function twoClusters(): Promise<TwoClusters> {
  const planes = simulatedControlPlanes();
  const folder = await mkdtemp(join(tmpdir(), "two-clusters-"));
  const start = async (name: string, id: string): Promise<WorldCluster> => {
    const node = nodeObject(`${name}-1`, { cpu: "8", memory: "32Gi" });
    const objects = [...looseLiqoDefinitions(), ...installedLiqo(id), node];
    const { kubeconfig } = await planes.start(name, objects);
    return worldCluster({ name, kubeconfigFile: join(folder, name), kubeconfig });
  };
  const [rome, paris] = await Promise.all([start("rome", ROME), start("paris", PARIS)]);
  const liqo = fakeLiqo({
    sites: [
      { id: ROME, client: rome.client },
      { id: PARIS, client: paris.client },
    ],
  });
  onTestFinished(async () => {
    await liqo.stop();
    rome.client.close();
    paris.client.close();
    await planes.stop();
    await rm(folder, { recursive: true });
  });
  await liqo.start();
  const kubeconfigs = ["--kubeconfig", rome.kubeconfigFile, "--remote-kubeconfig", paris.kubeconfigFile];
  return {
    rome,
    paris,
    liqo,
    peerArgs: ["peer", ...kubeconfigs, "--create-resource-slice=false"],
    unpeerArgs: ["unpeer", ...kubeconfigs],
  };
}

export const ASKED: ResourceList = { cpu: "2", memory: "4Gi", pods: "110", "ephemeral-storage": "20Gi" };

/** A slice as an agent writes it. */
export function sliceOf(name: string, change: Partial<ResourceSlice["spec"]> = {}): ResourceSlice {
  return {
    apiVersion: `${RESOURCE_SLICES.group}/${RESOURCE_SLICES.version}`,
    kind: RESOURCE_SLICES.kind,
    metadata: {
      name,
      namespace: tenantNamespaceOf(PARIS),
      labels: {
        "liqo.io/replication": "true",
        "liqo.io/remoteID": PARIS,
        "liqo.io/remote-cluster-id": PARIS,
        "rear.fluidos.eu/reservation": name,
      },
      annotations: { "liqo.io/create-virtual-node": "true" },
    },
    spec: { class: "resource-broker", providerClusterID: PARIS, resources: ASKED, ...change },
  };
}
