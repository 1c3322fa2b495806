import { describe, expect, it } from "vitest";
import { clusterOf, LedgerDriver, requestFor, reserve } from "./ledger-driver.ts";
import { memoryDisk, memoryStore } from "./memory-store.ts";
import { STORE_PROMISES } from "./store-conformance.ts";

describe("the memory store passes the conformance suite of a store", () => {
  const makeStore = () => {
    const disk = memoryDisk();
    return Promise.resolve({ connect: () => memoryStore(disk), remove: () => Promise.resolve() });
  };
  it.each(STORE_PROMISES)("$name", async ({ keep }) => {
    await expect(keep(makeStore)).resolves.toBeUndefined();
  });
});

describe("failures of the memory store", () => {
  async function opened() {
    const disk = memoryDisk();
    const store = memoryStore(disk);
    await store.open();
    const driver = new LedgerDriver();
    driver.batch({ kind: "advertise", advertisement: clusterOf("paris", 8) });
    const batch = driver.batch(reserve("rome", "k", requestFor(1)));
    if (batch === undefined) throw new Error("paris has room");
    return { disk, store, batch };
  }

  it.each([
    { failure: "not-committed", kind: "not-committed", isThere: false },
    { failure: "unknown-but-committed", kind: "unknown", isThere: true },
    { failure: "unknown-not-committed", kind: "unknown", isThere: false },
    { failure: "corrupt", kind: "corrupt", isThere: false },
  ] as const)("can be planned: $failure", async ({ failure, kind, isThere }) => {
    const { store, batch } = await opened();
    store.failNextCommit(failure);
    await expect(store.commit(batch)).rejects.toMatchObject({ kind });
    expect(await store.lastCommit()).toBe(isThere ? 1 : 0);
    if (!isThere) await store.commit(batch);
    expect(store.commits).toHaveLength(1);
  });

  it("fails a call once when told to", async () => {
    const { store } = await opened();
    store.failNextCall("lastCommit", "unknown");
    await expect(store.lastCommit()).rejects.toMatchObject({ kind: "unknown" });
    expect(await store.lastCommit()).toBe(0);
  });

  it("refuses commits while it is full", async () => {
    const { store, batch } = await opened();
    const empty = store.fill();
    await expect(store.commit(batch)).rejects.toMatchObject({ kind: "not-committed" });
    await expect(store.commit(batch)).rejects.toMatchObject({ kind: "not-committed" });
    empty();
    await store.commit(batch);
    expect(await store.lastCommit()).toBe(1);
  });

  it("holds commits at a gate until it is opened", async () => {
    const { store, batch } = await opened();
    const open = store.blockCommits();
    const committing = store.commit(batch);
    await store.untilBlocked();
    expect(await store.lastCommit()).toBe(0);
    open();
    await committing;
    expect(await store.lastCommit()).toBe(1);
  });

  it("keeps what was committed when its process dies, and nothing of what waited", async () => {
    const { disk, store, batch } = await opened();
    store.blockCommits();
    void store.commit(batch);
    await store.untilBlocked();
    store.kill();
    const next = memoryStore(disk);
    expect(await next.open()).toMatchObject({ commitNumber: 0, ledgerId: disk.ledgerId });
    await next.commit(batch);
    expect(next.commits).toEqual([batch]);
  });
});
