import { expect, test } from "vitest";
import { cpuTimeOf, ticksFrom } from "./cpu-time.ts";

test.each([
  { name: "a plain name", program: "node" },
  { name: "a name with spaces and parentheses", program: "a (b) c) 7 7" },
])("CPU ticks are found behind $name", ({ program }) => {
  const before = ["R", ...Array.from({ length: 10 }, () => "1")];
  expect(ticksFrom(`42 (${program}) ${[...before, "250", "50", "9"].join(" ")}`)).toBe(300);
});

// Elsewhere there is nothing to read.
test.skipIf(process.platform !== "linux")(
  "both ways to read CPU time agree about this process, but for their steps",
  () => {
    const { exactMs, ticksMs } = cpuTimeOf(process.pid);
    expect(exactMs).toBeGreaterThan(0);
    expect(Math.abs(exactMs - ticksMs)).toBeLessThan(0.5 * exactMs + 50);
  },
);
