import { setTimeout as sleep } from "node:timers/promises";
import { type BenchRow, cpuMsOf } from "@resource-broker/testkit";
import { advertised, untilAdvertised } from "../advertised.ts";
import {
  type BenchEnvironment,
  type BenchSetup,
  median,
  pidOf,
  type Section,
  spread,
  withSetup,
} from "../environment.ts";

const SIZE = { nodes: 10, pods: 200 };
/** Nothing can be there so soon, and looking would slow the start that is measured. */
const UNDISTURBED_MS = 100;

/** From the start of the process until the broker has its first advertisement, again and again. */
export const start: Section = {
  name: "start",
  run: (environment) => withSetup(environment, SIZE, (setup) => starts(environment, setup)),
};

async function starts({ isQuick, print }: BenchEnvironment, setup: BenchSetup): Promise<BenchRow[]> {
  const { agent } = setup;
  const times: number[] = [];
  const cpus: number[] = [];
  await agent.ready();
  for (let round = 0; round < (isQuick ? 5 : 15); round++) {
    // Each process names itself in its advertisements.
    const previous = (await advertised(setup))?.instance;
    await agent.stop();
    const startedAt = performance.now();
    await agent.launch();
    await sleep(UNDISTURBED_MS);
    times.push(await untilAdvertised(setup, startedAt, ({ instance }) => instance !== previous));
    cpus.push(cpuMsOf(pidOf(agent)));
    await agent.ready();
  }
  print(times.map((time) => time.toFixed(0)).join(" "));
  return [
    {
      metric: "start → first advertisement accepted",
      now: spread(times),
      target: "350 ms, then 165",
      predecessor: "120–165 ms",
      note: `median of ${times.length}; ${median(cpus).toFixed(0)} ms of CPU`,
    },
  ];
}
