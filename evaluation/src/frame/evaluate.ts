import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { Fault } from "@resource-broker/base";
import { byMeasurement, type EvaluationTest, type Programs, type Size } from "../evaluation-test.ts";
import type { RunFlags } from "./flags.ts";
import { describeMachine, objectionsTo, pinToCores, raiseOpenFiles, watchNoise } from "./machine.ts";
import { createProgress, type Progress, type Screen } from "./progress.ts";
import { type ChosenRun, chooseRun } from "./run-folder.ts";
import { type Failure, isFinished, runTests } from "./run-tests.ts";
import { tablesOf, writeReport } from "./write-report.ts";

export interface EvaluateDeps {
  /** The repository's root. */
  readonly root: string;
  readonly tests: readonly EvaluationTest[];
  readonly screen: Screen;
  /** Results for `--print`. */
  readonly print: (text: string) => void;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
  /** RFC 3339. */
  readonly now: () => string;
}

/** Measures, then writes, or prints. Returns the exit code: 1 when something went wrong that must not, however fast it was. */
export async function evaluate(flags: RunFlags, deps: EvaluateDeps): Promise<number> {
  const temporary = flags.prints ? mkdtempSync(join(tmpdir(), "evaluation-")) : undefined;
  const out = temporary === undefined ? {} : { out: temporary };
  const run = chooseRun({ ...flags, ...out }, join(deps.root, "evaluation/results"), deps.now());
  const tests = testsOf(deps.tests, flags, run.size);
  const left = tests.filter((test) => !isFinished(run.folder, test, run));
  const seconds = byMeasurement(left).map(([{ expectedSeconds }]) => expectedSeconds[run.size]);
  const progress = createProgress({
    screen: deps.screen,
    totalSeconds: seconds.reduce((sum, each) => sum + each, 0),
    now: () => performance.now(),
  });
  try {
    if (temporary === undefined) progress.print(`Results go to ${pathText(run.folder.path)}`);
    const failures = left.length === 0 ? [] : await measure(flags, deps, { run, tests, progress });
    const faults = writeReport(run.folder, deps.tests, failures);
    for (const fault of faults) progress.print(`WRONG ${fault}`);
    for (const { id, problem } of failures) progress.print(`FAILED ${id}: ${problem}`);
    if (temporary === undefined) progress.print(`Report: ${pathText(join(run.folder.path, "report.md"))}`);
    else deps.print(tablesOf(run.folder, deps.tests));
    return faults.length + failures.length === 0 ? 0 : 1;
  } finally {
    progress.close();
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
  }
}

interface Measuring {
  readonly run: ChosenRun;
  readonly tests: readonly EvaluationTest[];
  readonly progress: Progress;
}

async function measure(
  { anyway, baseline }: RunFlags,
  { root, signal, now }: EvaluateDeps,
  { run: { folder, size, seed }, tests, progress }: Measuring,
): Promise<Failure[]> {
  const machine = describeMachine(root);
  const objections = anyway ? [] : objectionsTo(machine, size);
  if (objections.length > 0) throw new Fault("invalid", refusal(objections));
  const cores = pinToCores();
  raiseOpenFiles();
  const other = baseline === undefined ? {} : { baseline: baseline.url };
  // A resumed run keeps its date: most of it was measured then.
  if (folder.record() === undefined)
    folder.writeRecord({ size, seed, startedAt: now(), machine, cores, ...other });
  const scratch = mkdtempSync(join(tmpdir(), "evaluation-"));
  try {
    progress.print("Bundling broker and agent");
    const programs = bundlePrograms(root, scratch);
    const common = { size, seed, cores, programs, signal };
    const context = baseline === undefined ? common : { ...common, baseline };
    return await runTests({
      tests,
      folder,
      scratch,
      progress,
      commit: machine.commit,
      watchNoise,
      now,
      context,
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Short where it is near. */
function pathText(path: string): string {
  const near = relative(process.cwd(), path);
  return near === "" || near.startsWith("..") ? path : near;
}

function refusal(objections: readonly string[]): string {
  const list = objections.map((each) => `  - ${each}`).join("\n");
  return `this machine is not suitable for measurements now:\n${list}\nWait until it is, choose a smaller run (--quick, --smoke), or say --anyway.`;
}

function testsOf(
  tests: readonly EvaluationTest[],
  { only, baseline }: RunFlags,
  size: Size,
): EvaluationTest[] {
  const wanted = (id: string): boolean => only.length === 0 || only.includes(id);
  const drives = (id: string): boolean => baseline === undefined || BASELINE_TESTS.includes(id);
  return tests.filter(({ id, expectedSeconds }) => wanted(id) && drives(id) && expectedSeconds[size] > 0);
}

/** What needs nothing of a broker but its API. */
const BASELINE_TESTS = ["1c", "4", "5"];

/** Bundles broker and agent as they are shipped: what is measured is what people run. */
function bundlePrograms(root: string, into: string): Programs {
  const bundler = join(root, "scripts/bundle/main.ts");
  execFileSync(process.execPath, [bundler, "--into", into], { stdio: ["ignore", "ignore", "inherit"] });
  return {
    broker: join(into, "broker.mjs"),
    agent: join(into, "agent.mjs"),
    cli: join(into, "brokerctl.mjs"),
  };
}
