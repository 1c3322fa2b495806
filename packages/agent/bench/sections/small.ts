import { setTimeout as sleep } from "node:timers/promises";
import { type BenchRow, cpuMsOf, memoryOf } from "@resource-broker/testkit";
import { mb, percent } from "../figure-text.ts";
import { pidOf, type Scene, type Section, type Stage, withScene } from "../stage.ts";

const SIZE = { nodes: 10, pods: 200 };

/** What an agent takes in a small cluster where nothing happens. */
export const small: Section = {
  name: "small",
  run: (stage) => withScene(stage, SIZE, (scene) => atRest(stage, scene)),
};

async function atRest({ settleMs, restMs, say }: Stage, { agent, proxy }: Scene): Promise<BenchRow[]> {
  await agent.ready();
  const pid = pidOf(agent);
  say(`settling for ${settleMs / 1000} s`);
  await sleep(settleMs);
  const { rssMb, privateMb } = memoryOf(pid);
  say(`at rest for ${restMs / 1000} s`);
  const [cpuBefore, bytesBefore, beganAt] = [cpuMsOf(pid), proxy.bytes(), performance.now()];
  await sleep(restMs);
  const tookMs = performance.now() - beganAt;
  const cpu = (cpuMsOf(pid) - cpuBefore) / tookMs;
  const bytes = proxy.bytes();
  const perSecond = (of: "sent" | "received"): string =>
    `${(((bytes[of] - bytesBefore[of]) * 1000) / tookMs).toFixed(0)} B/s`;
  const later = memoryOf(pid);
  return [
    { figure: "RSS, settled", now: mb(rssMb), target: "60 MB", predecessor: "40.2 MB" },
    { figure: "  of which private", now: mb(privateMb), target: "20 MB" },
    {
      figure: "CPU at rest, at 30 s",
      now: percent(cpu),
      target: "0.30 %",
      predecessor: "0.30 %",
      note: `over ${(tookMs / 60_000).toFixed(1)} min`,
    },
    {
      figure: "to the broker",
      now: perSecond("sent"),
      target: "200 B/s",
      predecessor: "506 B/s",
      note: `TLS included; back ${perSecond("received")}`,
    },
    { figure: "RSS (private) after that", now: `${mb(later.rssMb)} (${mb(later.privateMb)})` },
  ];
}
