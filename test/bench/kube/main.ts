/**
 * `npm run bench:kube`: a process that follows a large cluster over mTLS and keeps its sums, as an agent does, once with
 * Kubernetes protobuf and once with JSON. Prints the measurements beside their targets; nothing is asserted but that no pod and no
 * change was missed. `--quick` takes a tenth of the cluster, `--only json` one encoding, and
 * `--node-flags="--optimize-for-size"` tries flags on the follower, to which the targets of memory belong, together
 * with MALLOC_ARENA_MAX=1 in the environment. Linux only: it reads /proc.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { testCertificates } from "@resource-broker/testkit";
import { rolldown } from "rolldown";
import { leanBuiltins } from "../../../scripts/bundle/lean-builtins.ts";
import { oneByte } from "../../../scripts/bundle/one-byte.ts";
import type { ClusterSize, Encoding } from "./messages.ts";
import { type Measurements, run } from "./run.ts";

const LARGE: ClusterSize = { nodes: 5_000, pods: 150_000 };
const QUICK: ClusterSize = { nodes: 500, pods: 15_000 };
const ENCODINGS: readonly Encoding[] = ["protobuf", "json"];

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    "node-flags": { type: "string", default: "" },
  },
});
const printProgress = (line: string): void => console.error(`… ${line}`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
const folder = mkdtempSync(join(tmpdir(), "bench-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

const size = values.quick ? QUICK : LARGE;
const settings = {
  size,
  program: await bundled(),
  nodeFlags: values["node-flags"].split(" ").filter((flag) => flag !== ""),
  certificates: await testCertificates(),
  cores: canPin() ? { server: 0, follower: 1 } : undefined,
  changesPerSecond: 100,
  changeMs: values.quick ? 5_000 : 20_000,
  // V8 gives back what it no longer needs some ten seconds after there was work.
  settleMs: values.quick ? 2_000 : 15_000,
};

const measurements: Partial<Record<Encoding, Measurements>> = {};
for (const encoding of ENCODINGS) {
  if (values.only !== "" && values.only !== encoding) continue;
  printProgress(`${size.nodes} nodes and ${size.pods} pods as ${encoding}`);
  measurements[encoding] = await run({ ...settings, encoding });
}
console.log(`Node ${process.version}, ${cpus()[0]?.model ?? "unknown CPU"}`);
const arenas = process.env["MALLOC_ARENA_MAX"];
const how = [...settings.nodeFlags, ...(arenas === undefined ? [] : [`MALLOC_ARENA_MAX=${arenas}`])];
console.log(`${size.nodes} nodes, ${size.pods} pods, over mTLS; ${how.join(" ") || "no flags"}\n`);
console.log(tableOf(rows()));

function rows(): Row[] {
  const row = (metric: string, target: string, show: (of: Measurements) => string): Row => {
    const [protobuf = "", json = ""] = ENCODINGS.map((encoding) => {
      const measured = measurements[encoding];
      return measured === undefined ? "–" : show(measured);
    });
    return { metric, target: values.quick ? "" : target, protobuf, json };
  };
  return [
    row("size of all pods", "297 MB / 646 MB", ({ podBytes }) => `${(podBytes / 1e6).toFixed(0)} MB`),
    row("first sync, CPU", "≤ 2 s", ({ syncCpuMs }) => `${(syncCpuMs / 1000).toFixed(2)} s`),
    row("first sync, time", "", ({ syncWallMs }) => `${(syncWallMs / 1000).toFixed(2)} s`),
    row("RSS before", "", ({ idleMb }) => `${idleMb.toFixed(0)} MB`),
    row("RSS at most during the sync", "≤ 110 MB", ({ peakMb }) => `${peakMb.toFixed(0)} MB`),
    row("RSS settled", "≤ 80 MB", ({ settledMb }) => `${settledMb.toFixed(0)} MB`),
    row("RSS after the changes", "≤ 80 MB", ({ changedMb }) => `${changedMb.toFixed(0)} MB`),
    row("CPU at 100 changes per second", "≤ 2 %", ({ changeCpu }) => `${(100 * changeCpu).toFixed(2)} %`),
  ];
}

/** One file, as an agent is shipped: hundreds of modules take memory and time of their own. */
async function bundled(): Promise<string> {
  printProgress("bundling the follower");
  const input = fileURLToPath(new URL("./reflector-process.ts", import.meta.url));
  const build = await rolldown({ input, platform: "node", plugins: [leanBuiltins(), oneByte()] });
  const file = join(folder, "follower.mjs");
  await build.write({ file, format: "esm", codeSplitting: false });
  await build.close();
  return file;
}

function canPin(): boolean {
  if (availableParallelism() < 2) return false;
  try {
    execFileSync("taskset", ["-p", String(process.pid)], { stdio: "ignore" });
    return true;
  } catch {
    printProgress("cannot pin processes to cores: server and follower share them");
    return false;
  }
}

/** A figure of both encodings beside its target. */
interface Row {
  readonly metric: string;
  readonly target: string;
  readonly protobuf: string;
  readonly json: string;
}

function tableOf(rows: readonly Row[]): string {
  const cells = [
    ["", "protobuf", "JSON", "target"],
    ...rows.map(({ metric, protobuf, json, target }) => [metric, protobuf, json, target]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
