import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RealControlPlane, startControlPlane } from "@resource-broker/testkit";
import { findDeployAssetsHere } from "../../../tools/deploy-assets/assets.ts";
import { ROOT } from "../../generate/files.ts";
import type { Variant } from "./variants.ts";

const NAMESPACES = ["resource-broker-system", "rear-agent", "cert-manager", "liqo"];
const RESTRICTED = {
  "pod-security.kubernetes.io/enforce": "restricted",
  "pod-security.kubernetes.io/warn": "restricted",
};
/** The others are of no use here, and large. */
const OPERATOR_KINDS = /_(servicemonitors|prometheusrules)\.yaml$/;

export interface HelmEnd {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A real API server that knows the kinds our manifests use, and helm. */
export interface DeployBench {
  readonly plane: RealControlPlane;
  readonly helm: (args: readonly string[]) => Promise<HelmEnd>;
  /** What helm makes of a chart. */
  readonly render: (variant: Variant) => Promise<string>;
  /** As `kubectl apply --dry-run=server` would; resolves to everything but success: nothing, where all is well. */
  readonly tryOut: (args: readonly string[], stdin?: string) => Promise<string>;
  readonly dispose: () => Promise<void>;
}

export const deployAssets = (): ReturnType<typeof findDeployAssetsHere> => findDeployAssetsHere(process.env);

export function releaseOf(chart: Variant["chart"]): { readonly release: string; readonly namespace: string } {
  return chart === "broker"
    ? { release: "resource-broker", namespace: "resource-broker-system" }
    : { release: "resource-broker-agent", namespace: "rear-agent" };
}

export async function startDeployBench(): Promise<DeployBench> {
  const assets = deployAssets();
  if (!assets.isThere) throw new Error("helm and the definitions are not there: npm run deploy:assets");
  const directory = await mkdtemp(join(tmpdir(), "deploy-"));
  const plane = await startControlPlane({ name: "deploy" });
  const kubeconfig = join(directory, "kubeconfig");
  await writeFile(kubeconfig, plane.kubeconfig, { mode: 0o600 });
  await prepare(plane, assets.folder);
  let files = 0;

  const helm: DeployBench["helm"] = (args) =>
    new Promise((resolve) => {
      const env = { PATH: process.env["PATH"], HOME: directory, KUBECONFIG: kubeconfig };
      execFile(join(assets.folder, "helm"), args, { env, maxBuffer: 64 << 20 }, (error, stdout, stderr) =>
        resolve({ exitCode: error === null ? 0 : 1, stdout, stderr }),
      );
    });

  const valuesFile = async ({ values }: Variant): Promise<string> => {
    const file = join(directory, `values-${(files += 1)}.json`);
    await writeFile(file, JSON.stringify(values));
    return file;
  };

  return {
    plane,
    helm,
    render: async (variant) => {
      const { release, namespace } = releaseOf(variant.chart);
      const chart = join(ROOT, "deploy/helm", variant.chart);
      const end = await helm(["template", release, chart, "-n", namespace, "-f", await valuesFile(variant)]);
      if (end.exitCode !== 0 || end.stderr !== "") throw new Error(`helm template: ${end.stderr}`);
      return end.stdout;
    },
    tryOut: async (args, stdin = "") => {
      const { exitCode, stderr } = await plane.kubectl(["apply", "--dry-run=server", ...args], stdin);
      return exitCode === 0 ? stderr : `exit ${exitCode}: ${stderr}`;
    },
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

export function readRepository(path: string): Promise<string> {
  return readFile(join(ROOT, path), "utf8");
}
