import { setTimeout as sleep } from "node:timers/promises";
import { type BenchRow, cpuMsOf, memoryOf } from "@resource-broker/testkit";
import { untilAdvertised } from "../advertised.ts";
import {
  type BenchEnvironment,
  type BenchSetup,
  mb,
  percent,
  pidOf,
  type Section,
  spread,
  withSetup,
} from "../environment.ts";

const LARGE = { nodes: 5_000, pods: 150_000 };
const QUICK = { nodes: 500, pods: 15_000 };
const CHANGES_PER_SECOND = 100;

/** An agent in a large cluster, first at rest, then with something happening all the time. */
export const large: Section = {
  name: "large",
  run: (environment) =>
    withSetup(environment, environment.isQuick ? QUICK : LARGE, (setup) => underChange(environment, setup)),
};

async function underChange(environment: BenchEnvironment, setup: BenchSetup): Promise<BenchRow[]> {
  const { isQuick, settleMs, print } = environment;
  const { cluster, agent } = setup;
  const pid = pidOf(agent);
  await untilAdvertised(setup, performance.now(), () => true);
  const firstSyncMs = cpuMsOf(pid);
  print(`settling for ${settleMs / 1000} s`);
  await sleep(settleMs);
  const settled = memoryOf(pid);

  print(`${CHANGES_PER_SECOND} pod changes per second`);
  cluster.change(CHANGES_PER_SECOND);
  await sleep(1000);
  const [cpuBefore, beganAt] = [cpuMsOf(pid), performance.now()];
  await sleep(isQuick ? 10_000 : 30_000);
  const cpu = (cpuMsOf(pid) - cpuBefore) / (performance.now() - beganAt);
  const delays = await gpuDelays(setup, isQuick ? 2 : 5);
  const after = memoryOf(pid);
  const { changes, allocatedMillis } = await cluster.rest();
  const correct = await settledDifference(setup, allocatedMillis);
  const targets = isQuick ? {} : { sync: "2 s", rss: "90 MB", cpu: "2 %", delay: "1,000 ms" };
  const target = (of: keyof typeof targets): Pick<BenchRow, "target"> =>
    targets[of] === undefined ? {} : { target: targets[of] };
  return [
    {
      metric: "start and first sync, CPU",
      now: `${(firstSyncMs / 1000).toFixed(1)} s`,
      ...target("sync"),
    },
    {
      metric: "RSS, settled",
      now: mb(settled.rssMb),
      ...target("rss"),
      note: `private ${mb(settled.privateMb)}, at most ${mb(settled.peakMb)}`,
    },
    {
      metric: "RSS after the changes",
      now: mb(after.rssMb),
      ...target("rss"),
      note: `private ${mb(after.privateMb)}`,
    },
    { metric: `CPU at ${CHANGES_PER_SECOND} pod changes/s`, now: percent(cpu), ...target("cpu") },
    {
      metric: "a GPU is taken → the broker knows",
      now: spread(delays.taken),
      ...target("delay"),
      note: `given back: ${spread(delays.given)}, as changes for the better wait up to 5 s`,
    },
    {
      metric: "allocated CPU at the broker, in the end",
      now: correct,
      note: `after ${changes} changes; counted a second time by the bench`,
    },
  ];
}

interface Delays {
  readonly taken: readonly number[];
  readonly given: readonly number[];
}

async function gpuDelays(setup: BenchSetup, rounds: number): Promise<Delays> {
  const taken: number[] = [];
  const given: number[] = [];
  for (let round = 0; round < rounds; round++) {
    taken.push(await delayUntil(setup, setup.cluster.occupy, "1"));
    given.push(await delayUntil(setup, setup.cluster.vacate, "0"));
  }
  return { taken, given };
}

async function delayUntil(setup: BenchSetup, act: () => Promise<void>, gpus: string): Promise<number> {
  const since = performance.now();
  await act();
  return untilAdvertised(setup, since, ({ resources }) => (resources.allocated.gpu ?? "0") === gpus);
}

/** Waits for the next regular advertisement, if need be: small changes are not told one by one. */
async function settledDifference(setup: BenchSetup, allocatedMillis: number): Promise<string> {
  const isRight = (cpu: string): boolean => millis(cpu) === allocatedMillis;
  const tookMs = await untilAdvertised(setup, performance.now(), ({ resources }) =>
    isRight(resources.allocated.cpu),
  );
  return `right after ${(tookMs / 1000).toFixed(1)} s`;
}

function millis(cpu: string): number {
  return cpu.endsWith("m") ? Number(cpu.slice(0, -1)) : Number(cpu) * 1000;
}
