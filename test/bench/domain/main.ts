import { quantityBenchmarks } from "./quantity-bench.ts";
import { schedulingBenchmarks } from "./scheduling-bench.ts";

const rows = [...quantityBenchmarks(), ...schedulingBenchmarks()];
const width = Math.max(...rows.map(({ name }) => name.length));

console.log(`Node ${process.version}, one core, median of rounds\n`);
console.log(`${"".padEnd(width)}  ${"time".padStart(10)}  target`);
for (const { name, nanoseconds, target } of rows) {
  console.log(`${name.padEnd(width)}  ${duration(nanoseconds).padStart(10)}  ${target}`);
}

function duration(nanoseconds: number): string {
  if (nanoseconds < 1000) return `${nanoseconds.toFixed(0)} ns`;
  if (nanoseconds < 1e6) return `${(nanoseconds / 1000).toFixed(2)} µs`;
  return `${(nanoseconds / 1e6).toFixed(2)} ms`;
}
