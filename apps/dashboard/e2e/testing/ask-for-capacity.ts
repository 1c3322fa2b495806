import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { controlPlaneAssets, RESOURCE_REQUESTS, type WorldCluster } from "@resource-broker/testkit";

export interface Wanted {
  readonly name: string;
  readonly cpu: string;
  readonly memory: string;
}

/** Creates a ResourceRequest as a user would, with kubectl where it is installed, and waits until it is granted. */
export async function askForCapacity(cluster: WorldCluster, wanted: Wanted) {
  const manifest = {
    apiVersion: "rear.fluidos.eu/v1alpha1",
    kind: "ResourceRequest",
    metadata: { name: wanted.name, namespace: "default" },
    spec: { requestedCPU: wanted.cpu, requestedMemory: wanted.memory, duration: "1h" },
  } as const;
  const assets = controlPlaneAssets({}, () => undefined);
  if (assets.isThere) await kubectlCreate(assets.pathOf("kubectl"), cluster, JSON.stringify(manifest));
  else await cluster.client.create(RESOURCE_REQUESTS, manifest);
  const { status } = await cluster.until(RESOURCE_REQUESTS, wanted.name, (request) =>
    ["Reserved", "Active", "Failed"].includes(request.status?.phase ?? ""),
  );
  return { reservation: status?.reservationName ?? "", provider: status?.targetClusterID ?? "" };
}

async function kubectlCreate(program: string, cluster: WorldCluster, manifest: string): Promise<void> {
  const kubectl = spawn(program, ["create", "--kubeconfig", cluster.kubeconfigFile, "-f", "-"]);
  kubectl.stdin.end(manifest);
  const [problem] = await Promise.all([text(kubectl.stderr), text(kubectl.stdout), once(kubectl, "close")]);
  if (kubectl.exitCode !== 0) throw new Error(`kubectl create: ${problem}`);
}
