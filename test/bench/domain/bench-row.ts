/** One line of the benchmark's table. */
export interface BenchRow {
  readonly name: string;
  /** Median time of one run. */
  readonly nanoseconds: number;
  /** What was promised, in words; empty when nothing was. */
  readonly target: string;
}

const WARM_UP_MS = 100;
const ROUND_MS = 40;
const ROUNDS = 9;

/** Results are kept here, so that the compiler cannot leave out work whose result nobody reads. */
const sink: { result: unknown } = { result: undefined };

/** Times `run` on this core: warmed up, then the median of several rounds. */
export function measure(name: string, target: string, run: () => unknown): BenchRow {
  const repeats = Math.max(1, Math.round((repeatsWithin(WARM_UP_MS, run) * ROUND_MS) / WARM_UP_MS));
  return { name, nanoseconds: medianNanoseconds(repeats, run), target };
}

/** For what is warm already: the median over rounds of `repeats` runs, per run. */
export function medianNanoseconds(repeats: number, run: () => unknown): number {
  const rounds = Array.from({ length: ROUNDS }, () => nanosecondsOf(repeats, run));
  return rounds.sort((a, b) => a - b)[ROUNDS >> 1] ?? Number.NaN;
}

function repeatsWithin(milliseconds: number, run: () => unknown): number {
  const end = performance.now() + milliseconds;
  let repeats = 0;
  while (performance.now() < end) {
    sink.result = run();
    repeats++;
  }
  return repeats;
}

function nanosecondsOf(repeats: number, run: () => unknown): number {
  const start = performance.now();
  for (let done = 0; done < repeats; done++) sink.result = run();
  return ((performance.now() - start) * 1e6) / repeats;
}
