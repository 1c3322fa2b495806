import { expect, test } from "vitest";
import type { EngineHealth } from "./engine/engine.ts";
import { engineCheck, leadingCheck, writesCheck } from "./replica.ts";

const rows: readonly { readonly health: EngineHealth; readonly problem: string | undefined }[] = [
  { health: { state: "ready" }, problem: undefined },
  { health: { state: "starting" }, problem: "starting" },
  { health: { state: "failed", reason: "a line is missing" }, problem: "failed: a line is missing" },
  { health: { state: "stopped" }, problem: "stopped" },
  // Its readers must still be sent here.
  { health: { state: "degraded", reason: "disk full" }, problem: undefined },
];

test.each(rows)("an engine that is $health.state has the problem $problem", ({ health, problem }) => {
  expect(engineCheck({ health }).problem()).toBe(problem);
});

test("a broker that has its store to itself always leads", () => {
  expect(leadingCheck().problem()).toBeUndefined();
});

test("a store that cannot be written is shown, and takes nobody out", () => {
  const check = writesCheck({ health: { state: "degraded", reason: "disk full" } });
  expect(check).toMatchObject({ name: "ledger-writes", isAdvisory: true });
  expect(check.problem()).toBe("degraded: disk full");
  expect(writesCheck({ health: { state: "ready" } }).problem()).toBeUndefined();
});
