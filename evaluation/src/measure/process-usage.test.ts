import { expect, test } from "vitest";
import { cpuTimeOf, memoryFrom, memoryOf, ticksFrom } from "./process-usage.ts";

/** Elsewhere there is nothing to read. */
const HAS_PROC = process.platform === "linux";

test("memory is read in bytes of 10⁶, not of 2²⁰", () => {
  const status = "Name:\tnode\nVmHWM:\t  200000 kB\nVmRSS:\t  100000 kB\nRssAnon:\t   10000 kB\n";
  expect(memoryFrom(status)).toEqual({ rssMb: 102.4, privateMb: 10.24, peakMb: 204.8 });
});

test("a process that has ended has no memory, and that is said", () => {
  expect(() => memoryFrom("Name:\tnode\nState:\tZ (zombie)\n")).toThrow("has ended");
});

test.each([
  { name: "a plain name", program: "node" },
  { name: "a name with spaces and parentheses", program: "a (b) c) 7 7" },
])("CPU ticks are found behind $name", ({ program }) => {
  const before = ["R", ...Array.from({ length: 10 }, () => "1")];
  expect(ticksFrom(`42 (${program}) ${[...before, "250", "50", "9"].join(" ")}`)).toBe(300);
});

test.skipIf(!HAS_PROC)("both ways to read CPU time agree about this process, but for their steps", () => {
  const { exactMs, ticksMs } = cpuTimeOf(process.pid);
  expect(exactMs).toBeGreaterThan(0);
  expect(Math.abs(exactMs - ticksMs)).toBeLessThan(0.5 * exactMs + 50);
  expect(memoryOf(process.pid).rssMb).toBeGreaterThan(memoryOf(process.pid).privateMb);
});
