import { setTimeout as sleep } from "node:timers/promises";
import { type BenchRow, cpuMsOf, memoryOf } from "@resource-broker/testkit";
import { untilAdvertised } from "../advertised.ts";
import { mb, percent, spread } from "../figure-text.ts";
import { pidOf, type Scene, type Section, type Stage, withScene } from "../stage.ts";

const LARGE = { nodes: 5_000, pods: 150_000 };
const QUICK = { nodes: 500, pods: 15_000 };
const CHANGES_PER_SECOND = 100;

/** An agent in a large cluster, first at rest, then with something happening all the time. */
export const large: Section = {
  name: "large",
  run: (stage) => withScene(stage, stage.isQuick ? QUICK : LARGE, (scene) => underChange(stage, scene)),
};

async function underChange(stage: Stage, scene: Scene): Promise<BenchRow[]> {
  const { isQuick, settleMs, say } = stage;
  const { cluster, agent } = scene;
  const pid = pidOf(agent);
  await untilAdvertised(scene, performance.now(), () => true);
  const firstSyncMs = cpuMsOf(pid);
  say(`settling for ${settleMs / 1000} s`);
  await sleep(settleMs);
  const settled = memoryOf(pid);

  say(`${CHANGES_PER_SECOND} pod changes per second`);
  cluster.change(CHANGES_PER_SECOND);
  await sleep(1000);
  const [cpuBefore, beganAt] = [cpuMsOf(pid), performance.now()];
  await sleep(isQuick ? 10_000 : 30_000);
  const cpu = (cpuMsOf(pid) - cpuBefore) / (performance.now() - beganAt);
  const delays = await gpuDelays(scene, isQuick ? 2 : 5);
  const after = memoryOf(pid);
  const { changes, allocatedMillis } = await cluster.rest();
  const correct = await settledDifference(scene, allocatedMillis);
  const targets = isQuick ? {} : { sync: "2 s", rss: "90 MB", cpu: "2 %", delay: "1,000 ms" };
  const target = (of: keyof typeof targets): Pick<BenchRow, "target"> =>
    targets[of] === undefined ? {} : { target: targets[of] };
  return [
    {
      figure: "start and first sync, CPU",
      now: `${(firstSyncMs / 1000).toFixed(1)} s`,
      ...target("sync"),
    },
    {
      figure: "RSS, settled",
      now: mb(settled.rssMb),
      ...target("rss"),
      note: `private ${mb(settled.privateMb)}, at most ${mb(settled.peakMb)}`,
    },
    {
      figure: "RSS after the changes",
      now: mb(after.rssMb),
      ...target("rss"),
      note: `private ${mb(after.privateMb)}`,
    },
    { figure: `CPU at ${CHANGES_PER_SECOND} pod changes/s`, now: percent(cpu), ...target("cpu") },
    {
      figure: "a GPU is taken → the broker knows",
      now: spread(delays.taken),
      ...target("delay"),
      note: `given back: ${spread(delays.given)}, as changes for the better wait up to 5 s`,
    },
    {
      figure: "allocated CPU at the broker, in the end",
      now: correct,
      note: `after ${changes} changes; counted a second time by the bench`,
    },
  ];
}

interface Delays {
  readonly taken: readonly number[];
  readonly given: readonly number[];
}

async function gpuDelays(scene: Scene, rounds: number): Promise<Delays> {
  const taken: number[] = [];
  const given: number[] = [];
  for (let round = 0; round < rounds; round++) {
    taken.push(await delayUntil(scene, scene.cluster.occupy, "1"));
    given.push(await delayUntil(scene, scene.cluster.vacate, "0"));
  }
  return { taken, given };
}

async function delayUntil(scene: Scene, act: () => Promise<void>, gpus: string): Promise<number> {
  const since = performance.now();
  await act();
  return untilAdvertised(scene, since, ({ resources }) => (resources.allocated.gpu ?? "0") === gpus);
}

/** Waits for the next regular advertisement, if need be: small changes are not told one by one. */
async function settledDifference(scene: Scene, allocatedMillis: number): Promise<string> {
  const isRight = (cpu: string): boolean => millis(cpu) === allocatedMillis;
  const tookMs = await untilAdvertised(scene, performance.now(), ({ resources }) =>
    isRight(resources.allocated.cpu),
  );
  return `right after ${(tookMs / 1000).toFixed(1)} s`;
}

function millis(cpu: string): number {
  return cpu.endsWith("m") ? Number(cpu.slice(0, -1)) : Number(cpu) * 1000;
}
