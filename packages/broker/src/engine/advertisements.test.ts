import type { Advertisement, Command, ReceivedAdvertisement } from "@resource-broker/domain";
import { type ClusterSketch, cluster, request } from "@resource-broker/domain/testing";
import { fakeClock, memoryDisk, settle } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { runEngine } from "./testing/run-engine.ts";
import { WriteBehind } from "./write-behind.ts";

/** One life of a broker on this disk. */
async function alive(disk = memoryDisk()) {
  let gate = Promise.resolve();
  const broker = await runEngine({
    disk,
    through: (store) => ({
      saveAdvertisements: async (some) => {
        await gate;
        return store.saveAdvertisements(some);
      },
    }),
  });
  const { engine, store } = broker;
  let sequence = 0;
  const post = (advertisement: Advertisement) => engine.submit({ kind: "advertise", advertisement });
  return {
    ...broker,
    /** What is written behind waits until the returned function is called. */
    holdSaves: (): (() => void) => {
      let open = (): void => undefined;
      gate = new Promise((resolve) => {
        open = resolve;
      });
      return () => open();
    },
    /** What an agent without a sequence number posts. */
    says: (sketch: ClusterSketch) => post(cluster("paris", sketch)),
    /** What an agent posts that numbers its posts. */
    numbered: (sketch: ClusterSketch, number = ++sequence) =>
      post(cluster("paris", { ...sketch, more: { instance: "a", sequence: number } })),
    available: () => engine.ledger.accounts.get("paris")?.available.cpuMillis,
    /** `kill -9`, and the next process. */
    killed: () => {
      store.kill();
      return alive(disk);
    },
  };
}

async function isAnswered(reply: Promise<unknown>): Promise<boolean> {
  let answered = false;
  void reply.then(() => (answered = true));
  await settle();
  return answered;
}

const RESERVE: Command = {
  kind: "reserve",
  requester: "rome",
  request: request({ cpu: 8, memoryGi: 1 }),
  reservationId: "rsv-rome-1",
  decisionId: "dec-1",
};

describe("an advertisement that allows less", () => {
  test("is committed together with what else is waiting", async () => {
    const broker = await alive();
    await broker.says({ cpu: 16 });
    const before = broker.engine.commitNumber;
    await Promise.all([broker.says({ cpu: 12 }), broker.engine.submit(RESERVE)]);
    expect(broker.engine.commitNumber).toBe(before + 1);
  });

  test("that could not be committed is not answered, and neither is its repetition before it is", async () => {
    const broker = await alive();
    await broker.numbered({ cpu: 16 });
    broker.store.failNextCommit("not-committed");
    await expect(broker.numbered({ cpu: 4 }, 2)).rejects.toMatchObject({ code: "store-unavailable" });
    expect(broker.available()).toBe(4000);
    const release = broker.store.blockCommits();
    const again = broker.numbered({ cpu: 4 }, 2);
    await broker.store.untilBlocked();
    expect(await isAnswered(again)).toBe(false);
    release();
    await again;
    expect((await broker.killed()).available()).toBe(4000);
  });

  test("that could not be committed makes one wait that grows again, but not beyond what was there", async () => {
    const broker = await alive();
    await broker.says({ cpu: 16 });
    broker.store.failNextCommit("not-committed");
    await expect(broker.says({ cpu: 4 })).rejects.toMatchObject({ code: "store-unavailable" });
    await broker.says({ cpu: 8 });
    expect((await broker.killed()).available()).toBe(8000);
  });

  test("is not overwritten by an older one that is still being written behind", async () => {
    const broker = await alive();
    await broker.says({ cpu: 16 });
    const release = broker.holdSaves();
    await broker.clock.advance(1000);
    const reply = broker.says({ cpu: 8 });
    expect(await isAnswered(reply)).toBe(false);
    release();
    await reply;
    expect((await broker.killed()).available()).toBe(8000);
  });
});

test("a post that was overtaken is not believed after a crash", async () => {
  const broker = await alive();
  await broker.numbered({ cpu: 16 }, 1);
  await broker.numbered({ cpu: 16 }, 3);
  const next = await broker.killed();
  await next.numbered({ cpu: 64 }, 2);
  expect(next.available()).toBe(16_000);
});

describe("an advertisement that allows no less", () => {
  test("waits for nobody, needs no commit, and is answered while nothing can be written", async () => {
    const broker = await alive();
    await broker.numbered({ cpu: 16 });
    const before = broker.engine.commitNumber;
    const release = broker.store.blockCommits();
    await broker.numbered({ cpu: 16 });
    await broker.numbered({ cpu: 20 });
    release();
    expect(broker.engine.commitNumber).toBe(before);
    broker.store.fill();
    await broker.numbered({ cpu: 20 });
    expect((await broker.killed()).available()).toBe(16_000);
  });

  test("is committed when it is the first one that a process hears of a cluster it has read of", async () => {
    const broker = await alive();
    await broker.says({ cpu: 16 });
    await broker.clock.advance(1000);
    const next = await broker.killed();
    await next.says({ cpu: 20 });
    expect((await next.killed()).available()).toBe(20_000);
  });
});

describe("writing behind", () => {
  const advertised = (cpu: number): ReceivedAdvertisement => ({
    advertisement: cluster("paris", { cpu }),
    receivedAt: 0,
    replacedInstances: [],
  });

  /** With what it has saved, and a save that can be made to fail in the middle. */
  function collecting() {
    const saved: (readonly ReceivedAdvertisement[])[] = [];
    let during: (() => void) | undefined;
    const behind = new WriteBehind({
      clock: fakeClock(),
      save: async (some) => {
        const act = during;
        during = undefined;
        act?.();
        saved.push(some);
      },
      onError: () => undefined,
    });
    const failNext = (act: () => void): void => {
      during = () => {
        act();
        throw new Error("the disk is full");
      };
    };
    return { behind, saved, failNext };
  }

  test("a commit does not speak for what was said while it was made", async () => {
    const { behind, saved } = collecting();
    const [smaller, later] = [advertised(8), advertised(12)];
    behind.add(advertised(16), undefined);
    expect(behind.add(smaller, undefined)).toBe(false);
    expect(behind.add(later, undefined)).toBe(false);
    behind.committed([smaller]);
    expect(behind.add(later, undefined)).toBe(false);
    behind.committed([smaller]);
    await behind.flush();
    expect(saved).toEqual([[later]]);
  });

  test("what could not be saved is saved the next time", async () => {
    const { behind, saved, failNext } = collecting();
    const only = advertised(16);
    behind.add(only, undefined);
    failNext(() => undefined);
    await behind.flush();
    await behind.flush();
    expect(saved).toEqual([[only]]);
  });

  test("what came while a save failed is newer than what was to be saved", async () => {
    const { behind, saved, failNext } = collecting();
    const [older, newer] = [advertised(16), advertised(20)];
    behind.add(older, undefined);
    failNext(() => void behind.add(newer, older.advertisement));
    await behind.flush();
    expect(saved).toEqual([]);
    await behind.flush();
    expect(saved).toEqual([[newer]]);
  });
});
