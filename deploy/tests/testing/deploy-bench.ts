import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { controlPlaneAssets, type RealControlPlane, startControlPlane } from "@resource-broker/testkit";
import { ROOT } from "../../generate/files.ts";
import { deployAssetsFolder, type HelmEnd, helm } from "./helm.ts";

const NAMESPACES = ["resource-broker-system", "rear-agent", "cert-manager", "liqo"];
const RESTRICTED = {
  "pod-security.kubernetes.io/enforce": "restricted",
  "pod-security.kubernetes.io/warn": "restricted",
};
/** The others are of no use here, and large. */
const OPERATOR_KINDS = /_(servicemonitors|prometheusrules)\.yaml$/;

/** A real API server that knows the kinds our manifests use, and helm. */
export interface DeployBench {
  readonly plane: RealControlPlane;
  readonly helm: (args: readonly string[]) => Promise<HelmEnd>;
  /** As `kubectl apply --dry-run=server` would; resolves to everything but success: nothing, where all is well. */
  readonly tryOut: (args: readonly string[], stdin?: string) => Promise<string>;
  /** Runs targets of the Makefile, one after the other. */
  readonly make: (...targets: string[]) => Promise<unknown>;
  /** Runs a program of the repository that calls KUBECTL, in a folder. */
  readonly script: (path: string, args: readonly string[], cwd: string) => Promise<unknown>;
  readonly dispose: () => Promise<void>;
}

export async function startDeployBench(): Promise<DeployBench> {
  const folder = deployAssetsFolder();
  const directory = await mkdtemp(join(tmpdir(), "deploy-"));
  const plane = await startControlPlane({ name: "deploy" });
  const kubeconfig = join(directory, "kubeconfig");
  await writeFile(kubeconfig, plane.kubeconfig, { mode: 0o600 });
  await prepare(plane, folder);
  const assets = controlPlaneAssets();
  const KUBECTL = `${assets.isThere ? assets.pathOf("kubectl") : "kubectl"} --kubeconfig ${kubeconfig}`;
  return {
    plane,
    helm: (args) => helm(args, { env: { HOME: directory, KUBECONFIG: kubeconfig } }),
    tryOut: async (args, stdin = "") => {
      const { exitCode, stderr } = await plane.kubectl(["apply", "--dry-run=server", ...args], stdin);
      return exitCode === 0 ? stderr : `exit ${exitCode}: ${stderr}`;
    },
    make: (...targets) => promisify(execFile)("make", ["-C", ROOT, ...targets, `KUBECTL=${KUBECTL}`]),
    script: (path, args, cwd) =>
      promisify(execFile)(join(ROOT, path), args, { cwd, env: { ...process.env, KUBECTL } }),
    dispose: async () => {
      await plane.dispose();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function prepare(plane: RealControlPlane, assets: string): Promise<void> {
  const done = async (args: readonly string[], stdin?: string): Promise<void> => {
    const { exitCode, stderr } = await plane.kubectl(args, stdin);
    if (exitCode !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
  };
  const operator = await readdir(join(assets, "prometheus-operator"));
  const foreign = [
    join(assets, "cert-manager"),
    ...operator
      .filter((file) => OPERATOR_KINDS.test(file))
      .map((file) => join(assets, "prometheus-operator", file)),
  ];
  await done(["apply", "--server-side", ...foreign.flatMap((file) => ["-f", file])]);
  for (const folder of ["broker", "agent"])
    await done(["apply", "-k", join(ROOT, "deploy/kustomize/crds", folder)]);
  const namespaces = NAMESPACES.map((name) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, labels: RESTRICTED },
  }));
  await done(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: namespaces }));
  await done(["wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"]);
}
