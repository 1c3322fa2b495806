import { setTimeout as sleep } from "node:timers/promises";
import { advertisementRequest, type BenchRow, cpuMsOf } from "@resource-broker/testkit";
import { type BenchEnvironment, type Section, settle, withBroker } from "../environment.ts";
import { advertiseOn, closeAll, listenOn, openFleet } from "../load/fleet.ts";

const AGENTS = 100;
const INTERVAL_MS = 30_000;
/** A whole interval would take half a minute to measure a few milliseconds: the agents hurry instead. */
const HURRY = 10;

/** What a small fleet costs all day: an advertisement from each every 30 s, and a stream to each. */
export const agents: Section = {
  name: "agents",
  run: (env) => withBroker(env, ({ port }, pid) => measure(env, port, pid)),
};

async function measure(
  { certificates, isQuick, report }: BenchEnvironment,
  port: number,
  pid: number,
): Promise<BenchRow[]> {
  report(`${AGENTS} agents, ${HURRY} times as often as every 30 s`);
  const fleetOf = { port, certificates, prefix: "agent", from: 0, to: AGENTS };
  const posting = await openFleet({ ...fleetOf, begin: (connection) => advertiseOn(connection) });
  const listening = await openFleet({ ...fleetOf, begin: listenOn });
  await settle(isQuick);

  const lastsMs = isQuick ? 3000 : 12_000;
  const idle = await shareOver(pid, () => sleep(lastsMs));
  const hurried = await shareOver(pid, async () => {
    const everyMs = INTERVAL_MS / HURRY / AGENTS;
    const until = performance.now() + lastsMs;
    for (let number = 0; performance.now() < until; number++) {
      const connection = posting[number % AGENTS];
      connection?.send(advertisementRequest(connection.clusterId), () => undefined);
      await sleep(everyMs);
    }
  });
  closeAll([...posting, ...listening]);
  const share = idle + Math.max(0, hurried - idle) / HURRY;
  return [
    {
      metric: "broker CPU, 100 agents at 30 s",
      now: `${share.toFixed(2)} % of a core`,
      target: "1 %",
      predecessor: "27 %",
      note: `scaled: ${hurried.toFixed(2)} % at ${HURRY} times the rate, ${idle.toFixed(2)} % with open streams only`,
    },
  ];
}

/** The share of a core that a process used meanwhile, in percent. */
async function shareOver(pid: number, meanwhile: () => Promise<unknown>): Promise<number> {
  const [cpuBefore, before] = [cpuMsOf(pid), performance.now()];
  await meanwhile();
  return (100 * (cpuMsOf(pid) - cpuBefore)) / (performance.now() - before);
}
