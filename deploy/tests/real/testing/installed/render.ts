import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { RealControlPlane } from "@resource-broker/testkit";
import { findDeployAssetsHere } from "../../../../../tools/deploy-assets/assets.ts";
import { type Manifests, readManifests } from "./manifests.ts";

const DEPLOY = join(import.meta.dirname, "../../../..");
const MOST_BYTES = 16 * 1024 * 1024;

export interface Release {
  readonly chart: "broker" | "agent";
  readonly namespace: string;
  readonly values: object;
}

/** Undefined: helm is there. Else why not. */
export function whyNoHelm(): string | undefined {
  const { isThere, folder } = findDeployAssetsHere(process.env);
  return isThere ? undefined : `there is no helm in ${folder}: npm run deploy:assets`;
}

/** What `helm install` would write into the cluster; the release is called as its chart. */
export async function renderChart({ chart, namespace, values }: Release): Promise<Manifests> {
  const helm = join(findDeployAssetsHere(process.env).folder, "helm");
  const flags = ["--namespace", namespace, "--values", "-"];
  const rendering = promisify(execFile)(helm, ["template", chart, join(DEPLOY, "helm", chart), ...flags], {
    maxBuffer: MOST_BYTES,
  });
  rendering.child.stdin?.end(JSON.stringify(values));
  return readManifests((await rendering).stdout);
}

/** What `kubectl apply -k` writes for the broker and its certificate. */
export async function brokerKustomization(plane: RealControlPlane): Promise<Manifests> {
  return readManifests(
    [await kustomized(plane, "broker"), await kustomized(plane, "certmanager")].join("---\n"),
  );
}

/** The same for an agent, with its cluster's ID written into its certificate as the guide asks for. */
export async function agentKustomization(plane: RealControlPlane, clusterId: string): Promise<Manifests> {
  const certificate = await readFile(join(DEPLOY, "kustomize/certmanager/agent-certificate.yaml"), "utf8");
  const own = certificate.replace("commonName: agent-cluster-1", `commonName: ${clusterId}`);
  return readManifests([await kustomized(plane, "agent"), own].join("---\n"));
}

async function kustomized(plane: RealControlPlane, folder: string): Promise<string> {
  const { exitCode, stdout, stderr } = await plane.kubectl(["kustomize", join(DEPLOY, "kustomize", folder)]);
  if (exitCode !== 0) throw new Error(`kubectl kustomize ${folder}: ${stderr}`);
  return stdout;
}
