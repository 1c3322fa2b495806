import { execFile } from "node:child_process";
import { join } from "node:path";
import { DEPLOY_ASSETS } from "../../../tools/deploy-assets/assets.ts";
import { findAssets } from "../../../tools/go-assets/assets-tool.ts";
import { ROOT } from "../../generate/files.ts";

const MOST_BYTES = 64 << 20;

export type ChartName = "broker" | "agent";

export interface HelmEnd {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface HelmCall {
  /** Where helm finds a cluster, and keeps what it knows of it. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

export interface Release {
  readonly release: string;
  readonly chart: ChartName;
  readonly namespace: string;
  readonly values: object;
}

/** Undefined: helm is there. Else why not. */
export function whyNoHelm(): string | undefined {
  const { isThere, folder } = findAssets(DEPLOY_ASSETS, process.env);
  return isThere ? undefined : `there is no helm in ${folder}: npm run deploy:assets`;
}

/** Where helm, and the definitions that our manifests build on, are. */
export function deployAssetsFolder(): string {
  const missing = whyNoHelm();
  if (missing !== undefined) throw new Error(missing);
  return findAssets(DEPLOY_ASSETS, process.env).folder;
}

export function chartFolder(chart: ChartName): string {
  return join(ROOT, "deploy/helm", chart);
}

/** Runs helm; nothing that its user has set up for it counts. */
export function helm(args: readonly string[], { env = {}, stdin = "" }: HelmCall = {}): Promise<HelmEnd> {
  const program = join(deployAssetsFolder(), "helm");
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env["PATH"], ...env }, maxBuffer: MOST_BYTES };
    const child = execFile(program, args, options, (error, stdout, stderr) =>
      resolve({ exitCode: error === null ? 0 : 1, stdout, stderr }),
    );
    // One that ends before it has read everything says why by itself.
    child.stdin?.on("error", () => undefined).end(stdin);
  });
}

/** What `helm install` would write into the cluster. */
export async function renderChart({ release, chart, namespace, values }: Release): Promise<string> {
  const args = ["template", release, chartFolder(chart), "--namespace", namespace, "--values", "-"];
  const end = await helm(args, { stdin: JSON.stringify(values) });
  if (end.exitCode !== 0 || end.stderr !== "") throw new Error(`helm template: ${end.stderr}`);
  return end.stdout;
}
