import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type RealControlPlane, until } from "@resource-broker/testkit";
import { AGENT_NAMESPACE, HELM_NAMESPACE, install, podObject, type Site, servedBy } from "./installation.ts";
import { kubectl } from "./kubectl.ts";
import type { Manifests } from "./manifests.ts";
import type { Pod } from "./pod.ts";
import { agentKustomization, brokerKustomization, helmRelease } from "./render.ts";

/** A broker and the agents of rome and paris. */
export interface Installed {
  readonly brokers: readonly Pod[];
  /** The one that the broker's Service sends calls to. */
  readonly leader: () => Promise<Pod>;
  readonly agents: readonly Pod[];
}

/** By kustomize: over HTTPS, with the ledger on a volume. */
export async function overHttp(site: Site): Promise<Installed> {
  const manifests = await brokerKustomization();
  const broker = await install(site, {
    name: "resource-broker-0",
    program: "broker",
    plane: site.rome,
    manifests,
  });
  const reach = servedBy(broker, manifests);
  const agents = await inBoth(site, async (clusterId, plane) => {
    const own = await agentKustomization(clusterId);
    return install(site, { name: `agent-${clusterId}`, program: "agent", plane, manifests: own, reach });
  });
  return { brokers: [broker], leader: async () => broker, agents };
}

/** Where pods of both clusters find the API server of the broker's cluster. */
const HUB = { host: "kubernetes.default.svc", port: 6443 };

/** By helm: through objects, with the ledger in the cluster, a broker that stands by, and the dashboard. */
export async function throughObjects(site: Site): Promise<Installed> {
  const { rome } = site;
  const values = {
    interfaces: ["kubernetes"],
    replicas: 2,
    store: { type: "kubernetes", leaseDuration: "2s" },
    dashboard: { enabled: true, exposed: true },
  };
  const manifests = await helmRelease({ chart: "broker", namespace: HELM_NAMESPACE, values });
  const names = [0, 1].map((number) => `${manifests.workload.metadata.name}-${number}`);
  const brokers: Pod[] = [];
  for (const name of names) {
    const parts = { ...manifests, objects: [...manifests.objects, podObject(manifests, name)] };
    brokers.push(await install(site, { name, program: "broker", plane: rome, manifests: parts }));
  }
  const issue = await kubeconfigIssuer(site);
  const agents = await inBoth(site, async (clusterID, plane) => {
    const agent = { clusterID, broker: { transport: "kubernetes", namespace: HELM_NAMESPACE } };
    return install(site, {
      name: `agent-${clusterID}`,
      program: "agent",
      plane,
      manifests: await helmRelease({ chart: "agent", namespace: AGENT_NAMESPACE, values: agent }),
      secrets: { "broker-kubeconfig": { kubeconfig: await issue(clusterID) } },
      reach: [{ names: [HUB.host], port: HUB.port, to: { host: "127.0.0.1", port: rome.port } }],
    });
  });
  return { brokers, leader: () => selected(rome, manifests, brokers), agents };
}

function inBoth(
  { rome, paris }: Site,
  start: (clusterId: string, plane: RealControlPlane) => Promise<Pod>,
): Promise<Pod[]> {
  return Promise.all([start("rome", rome), start("paris", paris)]);
}

/** Has brokerctl make the kubeconfig by which a cluster's agent reaches the broker's cluster. */
async function kubeconfigIssuer({ rome, images, directory }: Site): Promise<(id: string) => Promise<string>> {
  const admin = join(directory, "admin.kubeconfig");
  await writeFile(admin, rome.kubeconfig, { mode: 0o600 });
  const flags = ["-n", HELM_NAMESPACE, "--kubeconfig", admin, "--server", `https://${HUB.host}:${HUB.port}`];
  return async (id) => {
    const args = [images.built("/out/brokerctl.mjs"), "kubeconfig", "issue", id, ...flags];
    return (await promisify(execFile)(process.execPath, args)).stdout;
  };
}

/** The one pod that the Service sends calls to: it has the labels, and its kubelet would call it ready. */
function selected(
  plane: RealControlPlane,
  { services, workload }: Manifests,
  pods: readonly Pod[],
): Promise<Pod> {
  const { namespace, name } = workload.metadata;
  const service = services.find(({ metadata }) => metadata.name === name);
  const labels = Object.entries(service?.spec.selector ?? {}).map((label) => label.join("="));
  return until("one pod is sent calls", async () => {
    const found = await kubectl(plane, `-n ${namespace} get pods -l ${labels.join(",")} -o name`);
    const labelled = pods.filter(({ plan }) => found.split("\n").includes(`pod/${plan.name}`));
    const ready = await Promise.all(labelled.map(isReady));
    const [only, ...others] = labelled.filter((_, index) => ready[index]);
    return others.length === 0 ? only : undefined;
  });
}

function isReady(pod: Pod): Promise<boolean> {
  return pod.probe(pod.plan.readiness).then(
    (status) => status === 200,
    () => false,
  );
}
