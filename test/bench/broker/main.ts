/**
 * `npm run bench:broker`: a bundled broker on one core, the load on another, over mTLS and with every reservation
 * durable. Prints the measurements beside their targets. `--quick` takes less than a minute, `--only memory,push` runs some sections,
 * `--profile` shows where the time of a reservation goes, `--program` takes another bundle,
 * `--node-flags="--max-semi-space-size=32"` tries flags on the broker. Figures are printed, never asserted.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type BenchRow, benchTable, testCertificates } from "@resource-broker/testkit";
import type { BenchEnvironment } from "./environment.ts";
import { profileReservations } from "./profile.ts";
import { advertisements } from "./sections/advertisements.ts";
import { agents } from "./sections/agents.ts";
import { memory } from "./sections/memory.ts";
import { push } from "./sections/push.ts";
import { alike, reservations } from "./sections/reservations.ts";

const SECTIONS = [reservations, alike, advertisements, push, agents, memory];
const SERVER_CORE = 0;
const LOAD_CORE = 1;
/** Ten thousand connections and some to spare. */
const OPEN_FILES = 20_000;

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    profile: { type: "boolean", default: false },
    program: { type: "string" },
    "node-flags": { type: "string", default: "" },
  },
});
const report = (line: string): void => console.error(`… ${line}`);
const wanted = values.only === "" ? SECTIONS.map(({ name }) => name) : values.only.split(",");
const unknown = wanted.filter((name) => !SECTIONS.some((section) => section.name === name));
if (unknown.length > 0) {
  console.error(
    `There is no section ${unknown.join(", ")}; there are ${SECTIONS.map(({ name }) => name).join(", ")}`,
  );
  process.exit(2);
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const folder = mkdtempSync(join(tmpdir(), "bench-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const isSplit =
  availableParallelism() > 1 && succeeds("taskset", "-a", "-c", "-p", String(LOAD_CORE), String(process.pid));
if (!isSplit) report("cannot pin processes to cores: the broker and the load share them");
if (!succeeds("prlimit", `--nofile=${OPEN_FILES}:`, "--pid", String(process.pid)))
  report(`cannot raise the limit of open files to ${OPEN_FILES}: many connections may fail (ulimit -n)`);

const env: BenchEnvironment = {
  certificates: await testCertificates(),
  program: values.program ?? bundled(folder),
  cpu: isSplit ? SERVER_CORE : undefined,
  nodeFlags: values["node-flags"].split(" ").filter((flag) => flag !== ""),
  isQuick: values.quick,
  report,
};
const rows: BenchRow[] = [];
// Whatever breaks in the middle of a connection ends up here: what was measured so far is shown all the same.
process.once("uncaughtException", (error) => {
  show();
  console.error(error);
  process.exit(1);
});
if (values.profile) console.log(await profileReservations(env));
else {
  for (const section of SECTIONS) if (wanted.includes(section.name)) rows.push(...(await section.run(env)));
  show();
}
process.exit(0);

function show(): void {
  const model = cpus()[0]?.model ?? "unknown CPU";
  console.log(`Node ${process.version}, ${model}, broker on one core, load on another\n`);
  console.log(benchTable(rows));
}

function bundled(into: string): string {
  report("bundling the broker");
  const bundler = join(import.meta.dirname, "../../../scripts/bundle/main.ts");
  execFileSync(process.execPath, [bundler, "--into", into], { stdio: ["ignore", "ignore", "inherit"] });
  return join(into, "broker.mjs");
}

function succeeds(program: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
