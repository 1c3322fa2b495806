import { type Release, renderChart } from "../../../testing/helm.ts";
import { kustomize } from "../../../testing/kustomize.ts";
import { read } from "../../../testing/tree.ts";
import { type Manifests, readManifests } from "./manifests.ts";

/** What `helm install` writes; the release is called as its chart. */
export async function helmRelease(parts: Omit<Release, "release">): Promise<Manifests> {
  return readManifests(await renderChart({ ...parts, release: parts.chart }));
}

/** What `kubectl apply -k` writes for the broker and its certificate. */
export async function brokerKustomization(): Promise<Manifests> {
  return readManifests([await kustomize("broker"), await kustomize("certmanager")].join("---\n"));
}

/** The same for an agent, with its cluster's ID written into its certificate as the guide asks for. */
export async function agentKustomization(clusterId: string): Promise<Manifests> {
  const certificate = read("deploy/kustomize/certmanager/agent-certificate.yaml");
  const own = certificate.replace("commonName: agent-cluster-1", `commonName: ${clusterId}`);
  return readManifests([await kustomize("agent"), own].join("---\n"));
}
