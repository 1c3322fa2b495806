import { expect, test } from "vitest";
import type { EngineHealth } from "./engine/engine.ts";
import { engineCheck, leadingCheck } from "./engine-check.ts";

const rows: readonly { readonly health: EngineHealth; readonly problem: string | undefined }[] = [
  { health: { state: "ready" }, problem: undefined },
  { health: { state: "starting" }, problem: "starting" },
  { health: { state: "degraded", reason: "disk full" }, problem: "degraded: disk full" },
];

test.each(rows)("an engine that is $health.state has the problem $problem", ({ health, problem }) => {
  expect(engineCheck({ health }).problem()).toBe(problem);
});

test("a broker that has its store to itself always leads", () => {
  expect(leadingCheck().problem()).toBeUndefined();
});
