import { Fault } from "@resource-broker/base";
import { type FakeClock, fakeClock, type SeededRandom, seededRandom } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { checkedSink, stateOf } from "../testing/checked-sink.ts";
import { type FakeConnection, fakeKube } from "../testing/fake-kube-client.ts";
import type { FakeObject, FakeStore } from "../testing/fake-store.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { reflector } from "./reflector.ts";

const PODS = { group: "", version: "v1", kind: "Pod", plural: "pods", isNamespaced: true } as const;
const ROUNDS = 200;
/** What issue 4 promises. */
const ACTS_AGAIN_WITHIN_MS = 10_000;
const SEED = Number(process.env["SEED"] ?? 20_260_105);

interface World {
  readonly time: FakeClock;
  readonly random: SeededRandom;
  readonly store: FakeStore;
  readonly link: FakeConnection;
}

/** Each goes wrong for some time, and then the server is as it should be again. */
const DISASTERS: Readonly<Record<string, (world: World) => Promise<void>>> = {
  kill: async (world) => {
    world.link.down();
    await liveOn(world, 120_000);
    world.link.up();
  },
  "kill again and again": async (world) => {
    for (let kill = 0; kill < 4; kill++) {
      world.link.down();
      await liveOn(world, 3000);
      world.link.up();
      await liveOn(world, 800);
    }
  },
  cut: async ({ link }) => {
    link.cut();
  },
  "cut all the time": async (world) => {
    for (let cut = 0; cut < 20; cut++) {
      world.link.cut();
      await liveOn(world, 400);
    }
  },
  pause: async (world) => {
    world.link.pause();
    await liveOn(world, 200_000);
    world.link.resume();
  },
  "compact while paused": async (world) => {
    world.link.pause();
    await liveOn(world, 30_000);
    world.store.compact();
    world.link.resume();
  },
  "compact while killed": async (world) => {
    world.link.down();
    await liveOn(world, 20_000);
    world.store.compact();
    world.link.up();
  },
  "compact during the list": async (world) => {
    world.link.cut();
    world.store.compact();
    for (let compaction = 0; compaction < 5; compaction++) {
      await liveOn(world, 100);
      world.store.compact();
    }
  },
  "410 all the time": async (world) => {
    world.link.failNext({ verb: "watch", times: 3, fault: new Fault("gone", "too old") });
    world.link.cut();
    await liveOn(world, 20_000);
  },
  "500 to everything": async (world) => {
    world.link.failNext({ times: 50, fault: new Fault("internal", "etcd is unhappy") });
    world.link.cut();
    await liveOn(world, 30_000);
  },
  "busy servers": async (world) => {
    const fault = new Fault("overloaded", "busy", { details: { retryAfterMs: 1000 } });
    world.link.failNext({ times: 5, fault });
    world.link.cut();
    await liveOn(world, 15_000);
  },
  garbage: async (world) => {
    for (let event = 0; event < 4; event++) {
      world.link.corruptNext();
      change(world);
      await liveOn(world, 1000);
    }
  },
  "a pause, then a kill": async (world) => {
    world.link.pause();
    await liveOn(world, 20_000);
    world.link.down();
    await liveOn(world, 5000);
    world.link.up();
  },
  "a pause after which connections are forgotten": async (world) => {
    world.link.pause();
    world.link.cut();
    await liveOn(world, 100_000);
    world.link.resumeWithoutStreams();
  },
  "silent until its time is over": async (world) => {
    await liveOn(world, 700_000);
  },
};

/** Time goes by, and objects come, change and go meanwhile. */
async function liveOn(world: World, mostMs: number): Promise<void> {
  for (let step = 0; step < 6; step++) {
    await world.time.advance(world.random.between(0, Math.floor(mostMs / 6)));
    if (world.random.chance(0.7)) change(world);
  }
}

function change({ store, random }: World): void {
  const name = { namespace: `ns-${random.below(3)}`, name: `pod-${random.below(40)}` };
  const known = store.find(PODS, name);
  if (known === undefined) store.create(PODS, { metadata: name });
  else if (random.chance(0.5)) store.delete(PODS, name);
  else store.update(PODS, { ...known, touched: random.below(1000) });
}

describe(`a follower whose API server is killed, paused and cut (SEED=${SEED})`, () => {
  test(`acts again within 10 s, ${ROUNDS} times in a row, and misses no object`, async () => {
    const random = seededRandom(SEED);
    const time = fakeClock();
    const kube = fakeKube({ clock: time, latencyMs: () => random.below(60) });
    const world: World = { time, random, store: kube.store, link: kube.connect() };
    for (let object = 0; object < 30; object++) change(world);
    const sink = checkedSink();
    const follower = reflector<FakeObject>({ resource: PODS, pageSize: 7 }, sink, {
      client: world.link.client,
      clock: time,
      random: () => random.below(1_000_000) / 1_000_000,
      log: recordedLog(),
    });
    void follower.start();
    const names = Object.keys(DISASTERS);
    for (let round = 0; round < ROUNDS; round++) {
      const name = random.pick(names) ?? "kill";
      await DISASTERS[name]?.(world);
      world.link.clearFailures();
      await time.advance(ACTS_AGAIN_WITHIN_MS);
      const where = `SEED=${SEED}, round ${round}: ${name}`;
      expect({ where, state: sink.state(), offences: sink.violations, health: follower.health() }).toEqual({
        where,
        state: stateOf(kube.store.objects(PODS)),
        offences: [],
        health: { state: "synced" },
      });
      change(world);
      await time.advance(1);
      expect({ where, now: sink.state() }).toEqual({ where, now: stateOf(kube.store.objects(PODS)) });
    }
    await follower.stop();
    sink.close();
    change(world);
    await time.advance(600_000);
    expect(sink.violations).toEqual([]);
    expect(world.link.openWatches()).toBe(0);
  });
});
