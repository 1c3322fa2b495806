/** Sizes, times and memory of one run. Only the budgets of the bundles are ever asserted, by the bundler's own test. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { bundle, readNodeFlags } from "../bundle/bundle.ts";
import { PROGRAMS } from "../bundle/programs.ts";
import { must, run } from "./programs.ts";
import { startWorld } from "./world.ts";

/** By section and figure, as text. */
export type Measurements = Readonly<Record<string, Readonly<Record<string, string>>>>;

const BENCHES: readonly (readonly string[])[] = [
  ["evaluation/src/main.ts", "--quick", "--anyway", "--print", "--only", "decide"],
  ["evaluation/src/main.ts", "--quick", "--anyway", "--print", "--only", "load"],
];
const STARTS = 5;
export const TOO_LARGE = " TOO LARGE";
const BUSY = { "not measured": "the machine was busy; run it again when it is idle" };

export async function measure(root: string): Promise<Measurements> {
  const into = mkdtempSync(join(tmpdir(), "baseline-bundles-"));
  const load = loadavg()[0] ?? 0;
  const isBusy = load > availableParallelism() / 2;
  try {
    const measurements: Record<string, Readonly<Record<string, string>>> = {
      machine: {
        processor: cpus()[0]?.model ?? "unknown",
        node: process.version,
        load: load.toFixed(1),
      },
      "bundles, bytes": await bundleSizes(root, into),
      "memory after start, MB": await memory(root, into),
    };
    for (const [file = "", ...flags] of BENCHES) {
      const name = [file, ...flags].join(" ");
      measurements[name] = isBusy
        ? BUSY
        : rowsOf(must(await run([join(root, file), ...flags], root, process.env)).out);
    }
    return measurements;
  } finally {
    rmSync(into, { recursive: true, force: true });
  }
}

async function bundleSizes(root: string, into: string): Promise<Record<string, string>> {
  const files = await bundle({ root, into });
  const sizes = PROGRAMS.map(
    ({ file, budgetBytes }) =>
      [file, files.find((each) => each.file === file)?.bytes ?? 0, budgetBytes] as const,
  );
  return Object.fromEntries(
    sizes.map(([file, bytes, budget]) => [file, `${bytes} of ${budget}${bytes > budget ? TOO_LARGE : ""}`]),
  );
}

/** The bundled programs as their launchers start them; the median of a few starts. */
async function memory(root: string, into: string): Promise<Record<string, string>> {
  const programs: Record<string, readonly string[]> = {};
  for (const { name, file, nodeFlags } of PROGRAMS)
    programs[name] = [
      ...(nodeFlags === undefined ? [] : await readNodeFlags(join(root, nodeFlags))),
      join(into, file),
    ];
  const environment = Object.fromEntries(PROGRAMS.flatMap((each) => Object.entries(each.environment ?? {})));
  const found: Record<"broker" | "agent", number[]> = { broker: [], agent: [] };
  for (let at = 0; at < STARTS; at++) {
    const world = await startWorld(root, { programs, environment });
    found.broker.push(residentMegabytes(world.pid("broker")));
    found.agent.push(residentMegabytes(world.pid("rome")));
    await world.stop();
  }
  return Object.fromEntries(
    Object.entries(found).map(([name, all]) => [
      name,
      (all.toSorted((a, b) => a - b)[STARTS >> 1] ?? 0).toFixed(1),
    ]),
  );
}

function residentMegabytes(pid: number): number {
  const [, kilobytes = "0"] = /^VmRSS:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return (Number(kilobytes) * 1024) / 1e6;
}

/** The first two columns of a table of a bench: what, and how much. */
export function rowsOf(table: string): Record<string, string> {
  const rows = table.split("\n").map((line) => line.split(/ {2,}/u));
  return Object.fromEntries(
    rows.flatMap(([what = "", value = ""]) => (what === "" || value === "" ? [] : [[what, value] as const])),
  );
}

export function showMeasurements(before: Measurements, now: Measurements): string {
  return Object.entries(now)
    .flatMap(([section, measurements]) => [
      `measured: ${section}`,
      ...Object.entries(measurements).map(
        ([name, value]) => `  ${name}: ${before[section]?.[name] ?? "not recorded"} -> ${value}`,
      ),
    ])
    .join("\n");
}
