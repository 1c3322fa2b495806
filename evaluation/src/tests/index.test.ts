import { expect, test } from "vitest";
import { TESTS } from "./index.ts";
import { byMeasurement, listTest } from "./list-test.ts";

test("every test has an id of its own and says how it is measured", () => {
  expect(new Set(TESTS.map(({ id }) => id)).size).toBe(TESTS.length);
  for (const { method } of TESTS) expect(method.length).toBeGreaterThan(100);
});

test.each([
  { size: "smoke", atMost: 85 },
  { size: "quick", atMost: 310 },
  { size: "full", atMost: 3_600 },
] as const)("a $size run is planned to take at most $atMost s", ({ size, atMost }) => {
  const planned = byMeasurement(TESTS).map(([{ expectedSeconds }]) => expectedSeconds(size));
  expect(planned.reduce((sum, seconds) => sum + seconds, 0)).toBeLessThanOrEqual(atMost);
});

test("what a test finds is found again from its JSON", async () => {
  const listed = listTest<{ readonly ms: number }>({
    id: "x",
    title: "X",
    method: "",
    expectedSeconds: () => 1,
    run: async () => ({ ms: 1 / 3 }),
    faults: ({ ms }) => (ms > 0 ? ["wrong"] : []),
    charts: () => [],
    findings: ({ ms }) => ({ summary: [], text: String(ms) }),
  });
  const raw = await listed.measure({} as never);
  expect(raw).toEqual({ ms: 0.333_333_3 });
  expect(listed.judge(JSON.parse(JSON.stringify(raw)))).toEqual(listed.judge(raw));
  expect(listed.judge(raw)).toMatchObject({ faults: ["wrong"], findings: { text: "0.3333333" } });
});
