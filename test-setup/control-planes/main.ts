/**
 * Real control planes until it is told to stop: what `--on real` has in place of kind. `--check` only says whether their
 * programs are on this machine.
 */
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeFailure, EXIT, runUntilSignal } from "@resource-broker/runtime";
import { controlPlaneAssets, type RealControlPlane, startControlPlane } from "@resource-broker/testkit";

const { values } = parseArgs({
  options: {
    check: { type: "boolean" },
    cluster: { type: "string", multiple: true },
    "kubeconfig-dir": { type: "string" },
  },
});
const folder = values["kubeconfig-dir"] ?? ".";
const planes: RealControlPlane[] = [];

const assets = controlPlaneAssets(process.env, () => undefined);
if (!assets.isThere) end(EXIT.failure, assets.why);
else if (values.check !== true) await run();

async function start(name: string): Promise<void> {
  const plane = await startControlPlane({ name });
  planes.push(plane);
  const path = join(folder, `${name}.yaml`);
  // Whoever waits for the file must find it whole.
  await writeFile(`${path}.new`, plane.kubeconfig, { mode: 0o600 });
  await rename(`${path}.new`, path);
  console.log(`${name}  ${plane.url}  kubectl --kubeconfig ${path} get nodes`);
}

async function run(): Promise<void> {
  await runUntilSignal(
    {
      start: async () => {
        await mkdir(folder, { recursive: true });
        await Promise.all((values.cluster ?? []).map(start));
      },
      stop: async () => {
        await Promise.all(planes.map((plane) => plane.dispose()));
      },
    },
    {
      signals: process,
      lastly: (delayMs, action) => setTimeout(action, delayMs).unref(),
      end,
      exitCodeOf: () => EXIT.failure,
      describe: (error) => describeFailure(error, []),
    },
  );
}

function end(code: number, problem: string): void {
  console.error(`real control planes: ${problem}`);
  process.exit(code);
}
