/**
 * Real control planes until it is told to stop: what `--on real` and `--on liqo` have in place of kind. `--check` only says
 * whether their programs are on this machine.
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { JsonObject } from "@resource-broker/kube-sim";
import { describeFailure, EXIT, runUntilSignal } from "@resource-broker/runtime";
import {
  controlPlaneAssets,
  liqoAssets,
  type RealControlPlane,
  type RealLiqoControlPlanes,
  realLiqoControlPlanes,
  startControlPlane,
} from "@resource-broker/testkit";
import { parseAllDocuments } from "yaml";

const { values } = parseArgs({
  options: {
    check: { type: "boolean" },
    cluster: { type: "string", multiple: true },
    /** Those of the clusters that have nodes and the real Liqo. */
    "with-liqo": { type: "string", multiple: true },
    "kubeconfig-dir": { type: "string" },
  },
});
const folder = values["kubeconfig-dir"] ?? ".";
const withLiqo = values["with-liqo"] ?? [];
const planes: RealControlPlane[] = [];

const problem = missing();
if (problem !== undefined) end(EXIT.failure, problem);
else if (values.check !== true) await run();

function missing(): string | undefined {
  const assets = controlPlaneAssets(process.env, () => undefined);
  if (!assets.isThere) return assets.why;
  const hasLiqo = withLiqo.length === 0 || liqoAssets(process.env, () => undefined) !== undefined;
  return hasLiqo ? undefined : "there is no Liqo on this machine. Run npm run liqo:assets.";
}

/** Whoever waits for the file must find it whole. */
async function write(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return path;
}

async function print(name: string, { url, kubeconfig }: { url: string; kubeconfig: string }): Promise<void> {
  const path = await write(`${name}.yaml`, kubeconfig);
  console.log(`${name}  ${url}  kubectl --kubeconfig ${path} get nodes`);
}

async function start(name: string): Promise<void> {
  const plane = await startControlPlane({ name });
  planes.push(plane);
  await print(name, plane);
}

async function startWithLiqo(name: string, liqo: RealLiqoControlPlanes): Promise<void> {
  const nodes = await readFile(join(import.meta.dirname, `../manifests/nodes-of-${name}.yaml`), "utf8");
  const objects = parseAllDocuments(nodes).flatMap((document) => {
    const node: unknown = document.toJS();
    return isObject(node) ? [node] : [];
  });
  const { kubeconfig, agentKubeconfig = kubeconfig } = await liqo.start(name, objects);
  await write(`${name}.agent.yaml`, agentKubeconfig);
  await write(`${name}.agent.flags`, liqo.agentFlags(name).join("\n"));
  await print(name, { url: liqo.cluster(name).plane.url, kubeconfig });
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function run(): Promise<void> {
  const liqo = withLiqo.length === 0 ? undefined : realLiqoControlPlanes({ names: withLiqo });
  const startAny = (name: string): Promise<void> =>
    liqo !== undefined && withLiqo.includes(name) ? startWithLiqo(name, liqo) : start(name);
  await runUntilSignal(
    {
      start: async () => {
        await mkdir(folder, { recursive: true });
        const names = values.cluster ?? [];
        await Promise.all(names.map(startAny));
      },
      stop: async () => {
        await Promise.all([liqo?.stop(), ...planes.map((plane) => plane.dispose())]);
      },
    },
    {
      signals: process,
      unrefTimeout: (delayMs, action) => setTimeout(action, delayMs).unref(),
      exit: end,
      exitCodeOf: () => EXIT.failure,
      describe: (error) => describeFailure(error, []),
    },
  );
}

function end(code: number, reason: string): void {
  console.error(`real control planes: ${reason}`);
  process.exit(code);
}
