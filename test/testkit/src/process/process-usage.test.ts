import { expect, test } from "vitest";
import { cpuMsOf, memoryFrom, memoryOf } from "./process-usage.ts";

test("memory is read in bytes of 10⁶, not of 2²⁰", () => {
  const status = "Name:\tnode\nVmHWM:\t  200000 kB\nVmRSS:\t  100000 kB\nRssAnon:\t   10000 kB\n";
  expect(memoryFrom(status)).toEqual({ rssMb: 102.4, privateMb: 10.24, peakMb: 204.8 });
});

test("a process that has ended has no memory, and that is said", () => {
  expect(() => memoryFrom("Name:\tnode\nState:\tZ (zombie)\n")).toThrow("has ended");
});

// Elsewhere there is nothing to read.
test.skipIf(process.platform !== "linux")("this process has memory, and has used CPU", () => {
  const { rssMb, privateMb, peakMb } = memoryOf(process.pid);
  expect(rssMb).toBeGreaterThan(privateMb);
  expect(peakMb).toBeGreaterThanOrEqual(privateMb);
  expect(cpuMsOf(process.pid)).toBeGreaterThan(0);
});
