import { setTimeout as sleep } from "node:timers/promises";
import { type BenchRow, cpuMsOf, memoryOf } from "@resource-broker/testkit";
import {
  type BenchEnvironment,
  type BenchSetup,
  mb,
  percent,
  pidOf,
  type Section,
  withSetup,
} from "../environment.ts";

const SIZE = { nodes: 10, pods: 200 };

/** What an agent takes in a small cluster where nothing happens. */
export const small: Section = {
  name: "small",
  run: (environment) => withSetup(environment, SIZE, (setup) => atRest(environment, setup)),
};

async function atRest(
  { settleMs, restMs, print }: BenchEnvironment,
  { agent, proxy }: BenchSetup,
): Promise<BenchRow[]> {
  await agent.ready();
  const pid = pidOf(agent);
  print(`settling for ${settleMs / 1000} s`);
  await sleep(settleMs);
  const { rssMb, privateMb } = memoryOf(pid);
  print(`at rest for ${restMs / 1000} s`);
  const [cpuBefore, bytesBefore, beganAt] = [cpuMsOf(pid), proxy.bytes(), performance.now()];
  await sleep(restMs);
  const tookMs = performance.now() - beganAt;
  const cpu = (cpuMsOf(pid) - cpuBefore) / tookMs;
  const bytes = proxy.bytes();
  const perSecond = (of: "sent" | "received"): string =>
    `${(((bytes[of] - bytesBefore[of]) * 1000) / tookMs).toFixed(0)} B/s`;
  const later = memoryOf(pid);
  return [
    { metric: "RSS, settled", now: mb(rssMb), target: "60 MB", predecessor: "40.2 MB" },
    { metric: "  of which private", now: mb(privateMb), target: "20 MB" },
    {
      metric: "CPU at rest, at 30 s",
      now: percent(cpu),
      target: "0.30 %",
      predecessor: "0.30 %",
      note: `over ${(tookMs / 60_000).toFixed(1)} min`,
    },
    {
      metric: "to the broker",
      now: perSecond("sent"),
      target: "200 B/s",
      predecessor: "506 B/s",
      note: `TLS included; back ${perSecond("received")}`,
    },
    { metric: "RSS (private) after that", now: `${mb(later.rssMb)} (${mb(later.privateMb)})` },
  ];
}
