import { cluster } from "@resource-broker/domain/testing";
import { fakeClock, memoryDisk } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { freedCapacity } from "./heartbeat.ts";
import { startedEngine } from "./testing/started-engine.ts";

test("the more clusters there are, the longer it is until something freed is told again; none of it is forgotten", async () => {
  const time = fakeClock();
  const engine = await startedEngine(time, memoryDisk("led-1"));
  const hear = (count: number, cpu: number) =>
    Promise.all(
      Array.from({ length: count }, (_, at) =>
        engine.submit({
          kind: "advertise",
          advertisement: cluster(`cluster-${at}`, { cpu, more: { statedAt: time.wallMs() } }),
        }),
      ),
    );
  const freed = freedCapacity(engine);
  await hear(300, 8);
  const first = engine.now();
  expect(freed.noticedAt()).toBe(first);

  await time.advance(2999);
  await hear(1, 16);
  expect(freed.noticedAt()).toBe(first);
  await time.advance(1);
  expect(freed.noticedAt()).toBe(engine.now());

  await time.advance(60_000);
  expect(freed.noticedAt()).toBe(first + 3000);
  freed.stop();
  await engine.stop();
});
