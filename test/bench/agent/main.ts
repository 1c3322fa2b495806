/**
 * `npm run bench:agent`: the bundled agent between a simulated cluster and a bundled broker, each in a process of its
 * own. Prints the measurements beside their targets. `--quick` takes a minute and a half, `--minutes 5` measures an agent at rest for so
 * long, `--only small,start,large` runs some sections, `--program` takes another bundle of the agent and
 * `--node-flags=""` other flags than it is shipped with. Figures are printed, never asserted. Linux only: it reads /proc.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import nodeFlags from "@resource-broker/agent/node-flags.json" with { type: "json" };
import { type BenchRow, benchTable, testCertificates } from "@resource-broker/testkit";
import type { BenchEnvironment } from "./environment.ts";
import { large } from "./sections/large.ts";
import { small } from "./sections/small.ts";
import { start } from "./sections/start.ts";

const SECTIONS = [small, start, large];

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    minutes: { type: "string", default: "1" },
    only: { type: "string", default: SECTIONS.map(({ name }) => name).join(",") },
    program: { type: "string" },
    "node-flags": { type: "string", default: nodeFlags.join(" ") },
  },
});
const wanted = values.only.split(",");
const unknown = wanted.filter((name) => !SECTIONS.some((section) => section.name === name));
const minutes = Number(values.minutes);
if (unknown.length > 0 || !(minutes > 0)) {
  console.error(
    unknown.length > 0
      ? `There is no section ${unknown.join(", ")}; there are ${SECTIONS.map(({ name }) => name).join(", ")}`
      : `--minutes ${values.minutes}: give a number above 0`,
  );
  process.exit(2);
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const print = (line: string): void => console.error(`… ${line}`);
const folder = mkdtempSync(join(tmpdir(), "bench-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

print("bundling");
const bundler = join(import.meta.dirname, "../../../scripts/bundle/main.ts");
execFileSync(process.execPath, [bundler, "--into", folder], { stdio: ["ignore", "ignore", "inherit"] });
const environment: BenchEnvironment = {
  certificates: await testCertificates(),
  agentProgram: values.program ?? join(folder, "agent.mjs"),
  brokerProgram: join(folder, "broker.mjs"),
  nodeFlags: values["node-flags"].split(" ").filter((flag) => flag !== ""),
  settleMs: values.quick ? 5_000 : 60_000,
  restMs: values.quick ? 30_000 : minutes * 60_000,
  isQuick: values.quick,
  print,
};
const rows: BenchRow[] = [];
for (const section of SECTIONS) {
  if (!wanted.includes(section.name)) continue;
  rows.push(...(await section.run(environment)));
}
const load = loadavg()[0]?.toFixed(1) ?? "?";
console.log(`Node ${process.version}, ${cpus()[0]?.model ?? "unknown CPU"}, load ${load}`);
console.log(`flags: ${environment.nodeFlags.join(" ") || "none"}\n`);
console.log(benchTable(rows));
process.exit(0);
