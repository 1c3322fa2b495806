import { type Advertisement, type Command, DEFAULT_POLICY } from "@resource-broker/domain";
import { type ClusterSketch, cluster, request } from "@resource-broker/domain/testing";
import { fakeClock, memoryDisk, memoryStore, settle } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { createEngine } from "./create-engine.ts";
import { NO_OBSERVER } from "./engine-observer.ts";

/** One life of a broker on this disk. */
async function alive(disk = memoryDisk()) {
  const store = memoryStore(disk);
  const time = fakeClock();
  let gate = Promise.resolve();
  const saveAdvertisements: typeof store.saveAdvertisements = async (some) => {
    await gate;
    return store.saveAdvertisements(some);
  };
  const engine = createEngine(
    { policy: DEFAULT_POLICY, maxWaiting: 100 },
    {
      store: { ...store, saveAdvertisements },
      clock: time,
      observer: NO_OBSERVER,
      defer: setImmediate,
      onFatal: () => undefined,
    },
  );
  await engine.start();
  let sequence = 0;
  const post = (advertisement: Advertisement) => engine.submit({ kind: "advertise", advertisement });
  return {
    engine,
    store,
    disk,
    time,
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
    post,
    available: () => engine.ledger.accounts.get("paris")?.available.cpuMillis,
    /** `kill -9`, and the next process. */
    killed: () => {
      store.kill();
      return alive(disk);
    },
  };
}

/** What is known of a promise by now. */
async function stateOf(promise: Promise<unknown>): Promise<"answered" | "refused" | "waiting"> {
  let state: "answered" | "refused" | "waiting" = "waiting";
  promise.then(
    () => {
      state = "answered";
    },
    () => {
      state = "refused";
    },
  );
  await settle();
  return state;
}

const RESERVE: Command = {
  kind: "reserve",
  requester: "rome",
  request: request({ cpu: 8, memoryGi: 1 }),
  reservationId: "rsv-rome-1",
  decisionId: "dec-1",
};

describe("an advertisement that allows less", () => {
  test("and was answered is there after kill -9: nothing is lent that is gone", async () => {
    const broker = await alive();
    await broker.says({ cpu: 16 });
    await broker.time.advance(1000);
    await broker.says({ cpu: 4 });
    const next = await broker.killed();
    expect(next.available()).toBe(4000);
    expect((await next.engine.submit(RESERVE)).kind).toBe("refused");
  });

  test("is in force at once, and answered when it is durable", async () => {
    const broker = await alive();
    await broker.says({ cpu: 16 });
    const release = broker.store.blockCommits();
    const reply = broker.says({ cpu: 4 });
    await broker.store.untilBlocked();
    expect(broker.available()).toBe(4000);
    expect(await stateOf(reply)).toBe("waiting");
    release();
    expect((await reply).kind).toBe("advertised");
  });

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
    expect(await stateOf(again)).toBe("waiting");
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
    await broker.time.advance(1000);
    const reply = broker.says({ cpu: 8 });
    expect(await stateOf(reply)).toBe("waiting");
    release();
    await reply;
    expect((await broker.killed()).available()).toBe(8000);
  });
});

describe("after a crash", () => {
  test("a replaced agent process is not believed again", async () => {
    const broker = await alive();
    const old = (number: number) =>
      cluster("paris", { cpu: 64, more: { instance: "old", sequence: number } });
    await broker.post(old(1));
    await broker.time.advance(1000);
    await broker.post(cluster("paris", { cpu: 64, more: { instance: "new", sequence: 1 } }));
    const next = await broker.killed();
    expect(await next.post(old(2))).toMatchObject({ kind: "rejected", code: "superseded" });
  });

  test("a post that was overtaken is not believed", async () => {
    const broker = await alive();
    await broker.numbered({ cpu: 16 }, 1);
    await broker.numbered({ cpu: 16 }, 3);
    const next = await broker.killed();
    await next.numbered({ cpu: 64 }, 2);
    expect(next.available()).toBe(16_000);
  });

  test("a post that was taken back is not believed when it arrives again", async () => {
    const broker = await alive();
    await broker.numbered({ cpu: 16 }, 1);
    await broker.numbered({ cpu: 64 }, 2);
    await broker.numbered({ cpu: 16 }, 3);
    const next = await broker.killed();
    await next.numbered({ cpu: 64 }, 2);
    expect(next.available()).toBe(16_000);
  });
});

describe("an advertisement that allows no less", () => {
  test("waits for nobody, and needs no commit", async () => {
    const broker = await alive();
    await broker.numbered({ cpu: 16 });
    const before = broker.engine.commitNumber;
    const release = broker.store.blockCommits();
    await broker.numbered({ cpu: 16 });
    await broker.numbered({ cpu: 20 });
    release();
    expect(broker.engine.commitNumber).toBe(before);
    expect((await broker.killed()).available()).toBe(16_000);
  });

  test("is answered while nothing can be written", async () => {
    const broker = await alive();
    await broker.says({ cpu: 16 });
    broker.store.fill();
    await broker.says({ cpu: 16 });
    await expect(broker.says({ cpu: 15 })).rejects.toMatchObject({ code: "store-unavailable" });
  });

  test("is committed when it is the first one that a process hears of a cluster it has read of", async () => {
    const broker = await alive();
    await broker.says({ cpu: 16 });
    await broker.time.advance(1000);
    const next = await broker.killed();
    await next.says({ cpu: 20 });
    expect((await next.killed()).available()).toBe(20_000);
  });
});
