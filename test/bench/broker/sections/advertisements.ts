import { advertisementRequest, type BenchRow, cpuMsOf } from "@resource-broker/testkit";
import { type BenchEnvironment, type Section, withBroker } from "../environment.ts";
import { closedLoop } from "../load/closed-loop.ts";
import { advertiseOn, closeAll, openFleet } from "../load/fleet.ts";
import { count, median, ms, percentile } from "../measure/percentile.ts";

const CLUSTERS = 1000;
const IN_FLIGHT = 100;
const ROUNDS = 3;

/** How many advertisements the broker takes in a second. */
export const advertisements: Section = {
  name: "advertisements",
  run: (env) => withBroker(env, ({ port }, pid) => measure(env, port, pid)),
};

async function measure(
  { certificates, isQuick, report }: BenchEnvironment,
  port: number,
  pid: number,
): Promise<BenchRow[]> {
  report(`advertisements of ${count(CLUSTERS)} clusters, ${IN_FLIGHT} at a time`);
  const fleetOf = { port, certificates, prefix: "cluster", from: 0, to: CLUSTERS };
  const fleet = await openFleet({ ...fleetOf, begin: (connection) => advertiseOn(connection) });
  const rates: number[] = [];
  const latencies: number[] = [];
  const before = cpuMsOf(pid);
  for (let round = 0; round < ROUNDS; round++) {
    const { latenciesMs, elapsedMs, statuses } = await closedLoop({
      connections: fleet,
      inFlight: IN_FLIGHT,
      request: ({ clusterId }) => advertisementRequest(clusterId),
      forMs: isQuick ? 800 : 3000,
    });
    if (statuses.get(200) !== latenciesMs.length)
      throw new Error(`not every advertisement was taken: ${JSON.stringify([...statuses])}`);
    rates.push((1000 * latenciesMs.length) / elapsedMs);
    latencies.push(...latenciesMs);
  }
  const cpu = (1000 * (cpuMsOf(pid) - before)) / latencies.length;
  closeAll(fleet);
  return [
    {
      metric: "advertisements/s, 1,000 clusters",
      now: count(median(rates)),
      note:
        `rounds ${count(Math.min(...rates))}–${count(Math.max(...rates))}, ${cpu.toFixed(0)} µs of the broker's CPU each, ` +
        `p50 / p99 ${ms(median(latencies))} / ${ms(percentile(latencies, 0.99))} ms at ${IN_FLIGHT} in flight`,
    },
  ];
}
