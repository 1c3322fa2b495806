import { advertisementRequest, type BenchRow, cpuMsOf, memoryOf } from "@resource-broker/testkit";
import { type BenchEnvironment, type Section, settle, withBroker } from "../environment.ts";
import { closedLoop } from "../load/closed-loop.ts";
import type { Connection } from "../load/connection.ts";
import { advertiseOn, closeAll, listenOn, openFleet } from "../load/fleet.ts";
import { count, median, ms, percentile } from "../measure/percentile.ts";

const INTERVAL_MS = 30_000;

interface Step {
  readonly agents: number;
  readonly target: string;
  readonly predecessor: string;
}

const STEPS: readonly Step[] = [
  { agents: 100, target: "75 MB", predecessor: "42.5 MB" },
  { agents: 1000, target: "", predecessor: "–" },
  { agents: 10_000, target: "700 MB", predecessor: "–" },
];

/** What connected agents cost: each has advertised and holds one connection with an open stream. */
export const memory: Section = {
  name: "memory",
  run: (env) => withBroker(env, ({ port }, pid) => measure(env, port, pid)),
};

async function measure(env: BenchEnvironment, port: number, pid: number): Promise<BenchRow[]> {
  const { isQuick, report, certificates } = env;
  await settle(isQuick);
  const rows: BenchRow[] = [
    { metric: "broker RSS, idle", now: mb(pid), target: "65 MB", predecessor: "40 MB" },
  ];
  for (const { agents, target, predecessor } of isQuick ? STEPS.slice(0, 2) : STEPS) {
    report(`${count(agents)} connected agents`);
    const fleetOf = { port, certificates, prefix: "agent", from: 0, to: agents };
    const fleet = await openFleet({ ...fleetOf, begin: (connection) => advertiseOn(connection) });
    if (agents === STEPS.at(-1)?.agents) rows.push(await allAtOnce(env, fleet, pid));
    for (const connection of fleet) listenOn(connection);
    await settle(isQuick);
    rows.push({ metric: `… ${count(agents)} connected agents`, now: mb(pid), target, predecessor });
    closeAll(fleet);
  }
  return rows;
}

/** A fleet that advertises in the same moment: how long the last one waits, and what it costs over an interval. */
async function allAtOnce(
  { report }: BenchEnvironment,
  fleet: readonly Connection[],
  pid: number,
): Promise<BenchRow> {
  report(`${count(fleet.length)} advertisements at once`);
  const before = cpuMsOf(pid);
  const { latenciesMs } = await closedLoop({
    connections: fleet,
    inFlight: fleet.length,
    request: ({ clusterId }) => advertisementRequest(clusterId),
    forMs: INTERVAL_MS,
    atMost: fleet.length,
  });
  const share = (100 * (cpuMsOf(pid) - before)) / INTERVAL_MS;
  return {
    metric: `${count(fleet.length)} agents at 30 s, all in the same second: CPU / p99`,
    now: `${share.toFixed(1)} % / ${ms(percentile(latenciesMs, 0.99))} ms`,
    target: "27 % / 3 s",
    predecessor: "–",
    note: `one burst, its CPU spread over 30 s; p50 ${ms(median(latenciesMs))} ms`,
  };
}

function mb(pid: number): string {
  return `${memoryOf(pid).rssMb.toFixed(0)} MB`;
}
