import type { Chart } from "../charts/chart.ts";
import type { Context, EvaluationTest, Findings } from "../evaluation-test.ts";

/** A test whose result is nobody else's business: what it is told about itself comes from its own JSON. */
export interface ListedTest {
  readonly id: string;
  readonly measurement: string;
  readonly title: string;
  readonly method: string;
  readonly expectedSeconds: EvaluationTest<unknown>["expectedSeconds"];
  /** What comes back has been JSON already: the report of a resumed run is made from exactly the same. */
  readonly measure: (context: Context) => Promise<unknown>;
  readonly judge: (raw: unknown) => Judgement;
}

export interface Judgement {
  readonly faults: readonly string[];
  readonly charts: readonly Chart[];
  readonly findings: Findings;
}

export function listTest<Result>(test: EvaluationTest<Result>): ListedTest {
  const { id, measurement = id, title, method, expectedSeconds } = test;
  return {
    id,
    measurement,
    title,
    method,
    expectedSeconds,
    measure: async (context) => JSON.parse(JSON.stringify(await test.run(context), shortNumbers)) as unknown,
    judge: (raw) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is what this test itself has written
      const result = raw as Result;
      return { faults: test.faults(result), charts: test.charts(result), findings: test.findings(result) };
    },
  };
}

/** Those that are reported from one measurement stand together. */
export function byMeasurement<T extends Pick<ListedTest, "measurement">>(
  tests: readonly T[],
): (readonly [T, ...T[]])[] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const test of tests) {
    const group = groups.get(test.measurement);
    if (group === undefined) groups.set(test.measurement, [test]);
    else group.push(test);
  }
  return [...groups.values()];
}

/** Seven figures are more than any clock is good for, and let a file be read by people. */
function shortNumbers(_: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(7)) : value;
}
