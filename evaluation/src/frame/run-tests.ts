import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { byMeasurement, type Context, type EvaluationTest } from "../evaluation-test.ts";
import { withCleanup } from "../measure/async.ts";
import type { Noise } from "./machine.ts";
import type { Progress } from "./progress.ts";
import type { RunFolder } from "./run-folder.ts";

export interface RunTestsOptions {
  readonly tests: readonly EvaluationTest[];
  readonly folder: RunFolder;
  /** Where tests keep what nobody needs afterwards. */
  readonly scratch: string;
  readonly context: Omit<Context, "folder" | "progress" | "onCleanup">;
  readonly progress: Progress;
  readonly commit: string;
  /** Begins to watch how quiet the machine is; what it returns tells. */
  readonly watchNoise: () => () => Noise;
  /** RFC 3339. */
  readonly now: () => string;
}

export interface Failure {
  readonly id: string;
  readonly title: string;
  readonly problem: string;
}

/** One after the other. One that fails does not keep the others from being measured; one that is finished is not measured again. */
export async function runTests(options: RunTestsOptions): Promise<Failure[]> {
  const { context, progress, folder } = options;
  const failures: Failure[] = [];
  for (const tests of byMeasurement(options.tests)) {
    const [test] = tests;
    const name = tests.map(({ id, title }) => `${id} ${title}`).join(", ");
    if (isFinished(folder, test, context)) {
      progress.begin(name, 0);
      progress.end("measured already");
      continue;
    }
    context.signal.throwIfAborted();
    progress.begin(name, test.expectedSeconds[context.size]);
    try {
      const seconds = await runOne(options, test);
      progress.end(`measured in ${seconds.toFixed(0)} s`);
    } catch (error) {
      context.signal.throwIfAborted();
      const problem = error instanceof Error ? error.message : String(error);
      failures.push(...tests.map(({ id, title }) => ({ id, title, problem })));
      progress.end(`FAILED: ${problem}`);
    }
  }
  return failures;
}

type Wanted = Pick<Context, "size" | "seed">;

export function isFinished(
  folder: RunFolder,
  { measurement }: EvaluationTest,
  { size, seed }: Wanted,
): boolean {
  const raw = folder.raw(measurement);
  return raw !== undefined && raw.size === size && raw.seed === seed;
}

async function runOne(
  { folder, scratch, context, progress, commit, watchNoise, now }: RunTestsOptions,
  { measurement: id, measure }: EvaluationTest,
): Promise<number> {
  const own = join(scratch, id);
  mkdirSync(own, { recursive: true });
  const startedAt = now();
  const noise = watchNoise();
  const beganAt = performance.now();
  try {
    const result = await withCleanup((onCleanup) =>
      measure({ ...context, folder: own, progress: progress.update, onCleanup }),
    );
    const seconds = (performance.now() - beganAt) / 1000;
    const { size, seed } = context;
    folder.writeRaw({ id, size, seed, startedAt, commit, seconds, noise: noise(), result });
    return seconds;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
