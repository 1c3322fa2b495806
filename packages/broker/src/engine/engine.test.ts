import { Fault } from "@resource-broker/base";
import type { Command, Reply } from "@resource-broker/domain";
import { actor, cluster, MINUTE_MS, request } from "@resource-broker/domain/testing";
import { memoryDisk, memoryStore, settle } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { StoreFailure } from "../store/store.ts";
import type { Committed } from "./engine.ts";
import { MAX_RECORDED_REFUSALS_PER_HOUR } from "./recorded-refusals.ts";
import { NO_OBSERVER } from "./engine-observer.ts";
import { runEngine } from "./testing/run-engine.ts";

let serial = 0;

function reserve(
  requester: string,
  cpu: number,
  more: { key?: string; priority?: number; durationMs?: number } = {},
): Command {
  serial++;
  const { key, ...rest } = more;
  const id = `rsv-${requester}-${key ?? serial}`;
  const asked = request({ cpu, memoryGi: 1 }, rest);
  const command = {
    kind: "reserve",
    requester,
    request: asked,
    reservationId: id,
    decisionId: `dec-${serial}`,
  } as const;
  return key === undefined ? command : { ...command, key };
}

async function running(setup: Parameters<typeof runEngine>[0] = {}) {
  const running = await runEngine(setup);
  await running.engine.submit({ kind: "advertise", advertisement: cluster("paris") });
  return running;
}

async function granted(reply: Promise<Reply>) {
  const settled = await reply;
  if (settled.kind !== "granted") throw new Error(`expected a grant, got ${settled.kind}`);
  return settled.reservation;
}

describe("durability", () => {
  test("nobody is answered before the commit is through, and readers see nothing of it", async () => {
    const { engine, store } = await running();
    const release = store.blockCommits();
    let isAnswered = false;
    const reply = engine.submit(reserve("rome", 4)).finally(() => {
      isAnswered = true;
    });
    await store.untilBlocked();
    await settle();
    expect(isAnswered).toBe(false);
    expect(engine.ledger.reservations.size).toBe(0);
    expect(engine.ledger.accounts.get("paris")?.available.cpuMillis).toBe(16_000);
    release();
    expect((await reply).kind).toBe("granted");
    expect(engine.ledger.reservations.size).toBe(1);
    expect(engine.commitNumber).toBe(1);
  });

  test("what arrives during a commit shares the next one", async () => {
    const { engine, store } = await running();
    const release = store.blockCommits();
    const first = engine.submit(reserve("rome", 1));
    await store.untilBlocked();
    const others = Array.from({ length: 10 }, () => engine.submit(reserve("rome", 1)));
    release();
    await Promise.all([first, ...others]);
    expect(store.commits).toHaveLength(2);
    expect(store.commits[1]?.entries).toHaveLength(10);
  });

  test("a restart finds everything again, under the same ledger id", async () => {
    const { engine, disk } = await running();
    const { id } = await granted(engine.submit(reserve("rome", 4, { key: "k" })));
    await engine.stop();
    const again = await running({ disk });
    expect(again.engine.ledgerId).toBe(engine.ledgerId);
    expect(again.engine.ledger.reservations.get(id)?.phase).toBe("Reserved");
    expect(again.engine.ledger.accounts.get("paris")?.available.cpuMillis).toBe(12_000);
    expect((await again.engine.submit(reserve("rome", 4, { key: "k" }))).kind).toBe("current");
  });
});

describe("a batch", () => {
  test("serves the highest priority first, then who came first, and lets releases go ahead", async () => {
    const { engine, store } = await running();
    const held = await granted(engine.submit(reserve("rome", 10)));
    const release = store.blockCommits();
    const blocker = engine.submit(reserve("rome", 1));
    await store.untilBlocked();
    // Four want 8 CPU; with the release there is room for one, and it comes last.
    const replies = [5, 9, 9, 1].map((priority) => engine.submit(reserve(`r${priority}`, 8, { priority })));
    const freed = engine.submit({ kind: "release", by: actor("rome"), id: held.id });
    release();
    await blocker;
    await freed;
    expect((await Promise.all(replies)).map(({ kind }) => kind)).toEqual([
      "refused",
      "granted",
      "refused",
      "refused",
    ]);
  });

  test("turns requests away when too much waits, but not renewals", async () => {
    const { engine, store } = await running({ maxWaiting: 3 });
    const { id } = await granted(engine.submit(reserve("rome", 1, { durationMs: MINUTE_MS })));
    const release = store.blockCommits();
    const blocker = engine.submit(reserve("rome", 1));
    await store.untilBlocked();
    const waiting = [1, 2, 3].map(() => engine.submit(reserve("rome", 1)));
    await expect(engine.submit(reserve("rome", 1))).rejects.toMatchObject({
      code: "overloaded",
      status: 503,
    });
    const renewal = engine.submit({ kind: "renew", by: actor("rome"), id, durationMs: 2 * MINUTE_MS });
    release();
    await Promise.all([blocker, ...waiting]);
    expect((await renewal).kind).toBe("current");
  });
});

describe("a commit that fails", () => {
  test("surely: nothing is reserved, the caller may try again, reading continues", async () => {
    const { engine, store } = await running();
    const empty = store.fill();
    await expect(engine.submit(reserve("rome", 4, { key: "k" }))).rejects.toMatchObject({
      code: "store-unavailable",
    });
    expect(engine.health).toMatchObject({ state: "degraded" });
    expect(engine.ledger.accounts.get("paris")?.available.cpuMillis).toBe(16_000);
    expect(engine.quote("rome", request()).kind).toBe("granted");
    empty();
    expect((await engine.submit(reserve("rome", 16, { key: "k" }))).kind).toBe("granted");
    expect(engine.health).toEqual({ state: "ready" });
  });

  test("and a store that works again: the engine notices by itself, without a write", async () => {
    const { engine, store, clock } = await running();
    const empty = store.fill();
    await expect(engine.submit(reserve("rome", 4))).rejects.toMatchObject({ code: "store-unavailable" });
    await clock.advance(5000);
    expect(engine.health).toMatchObject({ state: "degraded" });
    empty();
    await clock.advance(1000);
    expect(engine.health).toEqual({ state: "ready" });
    expect((await engine.submit(reserve("rome", 4))).kind).toBe("granted");
  });

  test.each([
    { failure: "unknown-but-committed", asks: "answers" },
    { failure: "unknown-not-committed", asks: "answers" },
    { failure: "unknown-but-committed", asks: "fails" },
  ] as const)("$failure, and asking $asks: the number settles it, and it is reserved once", async (row) => {
    const { engine, store, clock } = await running();
    store.failNextCommit(row.failure);
    if (row.asks === "fails") store.failNextCall("lastCommit", "unknown");
    const reply = engine.submit(reserve("rome", 4));
    await settle();
    await clock.advance(5000);
    expect((await reply).kind).toBe("granted");
    expect(store.commits).toHaveLength(1);
    expect(engine.ledger.reservations.size).toBe(1);
  });

  test("because the store is corrupt: everything stops and the reason is reported", async () => {
    const { engine, store, fatal } = await running();
    store.failNextCommit("corrupt");
    await expect(engine.submit(reserve("rome", 4))).rejects.toMatchObject({ code: "store-unavailable" });
    expect(fatal).toHaveLength(1);
    expect(engine.health).toMatchObject({ state: "failed" });
    await expect(engine.submit(reserve("rome", 4))).rejects.toMatchObject({ code: "store-unavailable" });
  });
});

describe("time", () => {
  test("tries an expiry again when the store was full", async () => {
    const { engine, store, clock } = await running();
    const { id } = await granted(engine.submit(reserve("rome", 4, { durationMs: 10_000 })));
    const empty = store.fill();
    await clock.advance(15_000);
    expect(engine.ledger.reservations.get(id)?.phase).toBe("Reserved");
    empty();
    await clock.advance(1000);
    expect(engine.ledger.reservations.get(id)?.phase).toBe("Released");
  });

  test("ends a mass of reservations in steps", async () => {
    const { engine, clock, store } = await running({ policy: { defaultQuota: {} } });
    for (const name of ["paris", "lyon", "nice"]) {
      const advertisement = cluster(name, { cpu: 10_000, memoryGi: 10_000 });
      await engine.submit({ kind: "advertise", advertisement });
    }
    await Promise.all(
      Array.from({ length: 2500 }, () => engine.submit(reserve("rome", 1, { durationMs: 5000 }))),
    );
    await clock.advance(5000);
    await clock.advance(0);
    expect([...engine.ledger.reservations.values()].filter(({ phase }) => phase === "Reserved")).toEqual([]);
    expect(Math.max(...store.commits.slice(-3).map(({ entries }) => entries[0]?.events.length ?? 0))).toBe(
      1000,
    );
  });
});

describe("refusals of one requester", () => {
  const HOUR_MS = 60 * MINUTE_MS;
  const recorded = (store: Awaited<ReturnType<typeof running>>["store"], requester: string): number =>
    store.commits
      .flatMap(({ entries }) => entries)
      .filter(({ by, events }) => by === requester && events.some(({ kind }) => kind === "refused")).length;

  test("take no more than its share of the log; the others are answered and told to metrics and log", async () => {
    const notified: [string, boolean][] = [];
    const refusalNotRecorded = (decision: { readonly requester: string }, isFirst: boolean): void =>
      void notified.push([decision.requester, isFirst]);
    const { engine, store, clock } = await running({ observer: { ...NO_OBSERVER, refusalNotRecorded } });
    for (let count = 0; count < MAX_RECORDED_REFUSALS_PER_HOUR + 2; count++)
      expect((await engine.submit(reserve("mallory", 1000 + count))).kind).toBe("refused");
    expect(recorded(store, "mallory")).toBe(MAX_RECORDED_REFUSALS_PER_HOUR);
    expect(notified).toEqual([
      ["mallory", true],
      ["mallory", false],
    ]);
    await engine.submit(reserve("rome", 1000));
    expect(recorded(store, "rome")).toBe(1);
    expect((await engine.submit(reserve("mallory", 1))).kind).toBe("granted");
    await clock.advance(HOUR_MS);
    await engine.submit({ kind: "advertise", advertisement: cluster("paris") });
    await engine.submit(reserve("mallory", 1000));
    expect(recorded(store, "mallory")).toBe(MAX_RECORDED_REFUSALS_PER_HOUR + 1);
  });
});

describe("a request that is repeated", () => {
  const repeated = async () => {
    const notRecorded: string[] = [];
    const refusalNotRecorded = ({ id }: { readonly id: string }): void => void notRecorded.push(id);
    const setup = await running({ observer: { ...NO_OBSERVER, refusalNotRecorded } });
    const ask = async (requester = "rome", cpu = 1000) => {
      const reply = await setup.engine.submit(reserve(requester, cpu));
      if (reply.kind !== "refused") throw new Error(reply.kind);
      return reply.decision;
    };
    const lines = () =>
      setup.store.commits
        .flatMap(({ entries }) => entries.flatMap(({ events }) => events))
        .filter(({ kind }) => kind === "refused").length;
    return { ...setup, ask, lines, notRecorded };
  };

  test("and refused for the same reasons is recorded once; every reply names that decision", async () => {
    const { ask, lines, store, clock, notRecorded } = await repeated();
    const first = await ask();
    for (let count = 1; count <= 10; count++) {
      await clock.advance(1000);
      const again = await ask();
      expect(again).toMatchObject({ id: first.id, at: first.at + count * 1000 });
    }
    expect(lines()).toBe(1);
    expect(notRecorded).toHaveLength(10);
    expect(await store.findDecision(first.id)).toMatchObject({ id: first.id, requester: "rome" });
  });

  test("is recorded again for another requester, another request and other reasons", async () => {
    const { ask, lines, engine } = await repeated();
    const ids = [(await ask()).id, (await ask("oslo")).id, (await ask("rome", 1001)).id];
    await engine.submit({ kind: "cordon", by: { clusterId: "ops", isAdmin: true }, clusterId: "paris" });
    ids.push((await ask()).id);
    await engine.submit({ kind: "advertise", advertisement: cluster("bern") });
    ids.push((await ask()).id);
    engine.setPolicy({ ...engine.policy, version: "another" });
    ids.push((await ask()).id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(lines()).toBe(ids.length);
  });

  test("is recorded again in the next hour", async () => {
    const { ask, clock, engine } = await repeated();
    const first = await ask();
    await clock.advance(60 * MINUTE_MS);
    await engine.submit({ kind: "advertise", advertisement: cluster("paris") });
    expect((await ask()).id).not.toBe(first.id);
  });

  test("is recorded if the first record was not written", async () => {
    const { ask, lines, store } = await repeated();
    store.failNextCommit("not-committed");
    await expect(ask()).rejects.toThrow("not-committed");
    const { id } = await ask();
    expect(lines()).toBe(1);
    expect(await store.findDecision(id)).toBeDefined();
  });

  test("is granted as soon as it fits", async () => {
    const { ask, engine } = await repeated();
    await ask("rome", 20);
    await engine.submit({ kind: "advertise", advertisement: cluster("paris", { cpu: 40 }) });
    expect((await engine.submit(reserve("rome", 20))).kind).toBe("granted");
  });
});

describe("telling", () => {
  test("listeners hear every commit in order, after it is readable, and cannot spoil it", async () => {
    const { engine } = await running();
    const received: Committed[] = [];
    engine.onCommit(() => {
      throw new Error("a broken listener");
    });
    const end = engine.onCommit((commit) => {
      received.push(commit);
      expect(engine.commitNumber).toBe(commit.number);
    });
    const { id } = await granted(engine.submit(reserve("rome", 4)));
    await engine.submit({ kind: "activate", by: actor("rome"), id });
    end();
    await engine.submit({ kind: "release", by: actor("rome"), id });
    expect(received.map(({ number, events }) => [number, ...events.map(({ kind }) => kind)])).toEqual([
      [1, "granted"],
      [2, "activated"],
    ]);
  });
});

test("a stop answers what was taken in, refuses what comes later, and closes the store", async () => {
  const { engine, store, disk } = await running();
  const release = store.blockCommits();
  const inFlight = engine.submit(reserve("rome", 1));
  await store.untilBlocked();
  const waiting = engine.submit(reserve("rome", 1));
  const stopped = engine.stop();
  await expect(engine.submit(reserve("rome", 1))).rejects.toMatchObject({ code: "overloaded" });
  release();
  expect([(await inFlight).kind, (await waiting).kind]).toEqual(["granted", "granted"]);
  await stopped;
  expect(disk.isTaken).toBe(false);
  expect(disk.advertisements.has("paris")).toBe(true);
  expect(engine.health).toEqual({ state: "stopped" });
});

describe("a ledger's memory", () => {
  const DAY_MS = 24 * 60 * MINUTE_MS;

  test("begins when it is made empty; the first commit records it, and a later process does not begin again", async () => {
    const { engine, store, disk, clock } = await running();
    const since = clock.wallMs();
    const window = { since, until: since + DAY_MS, cause: "created" } as const;
    expect(engine.ledger.adoption).toEqual(window);
    await granted(engine.submit(reserve("rome", 1)));
    const [first] = store.commits;
    expect(first?.entries[0]).toMatchObject({
      by: "broker",
      action: "open-adoption",
      events: [{ kind: "adoption-window-set", window }],
    });
    await granted(engine.submit(reserve("rome", 1)));
    expect(store.commits[1]?.entries).toHaveLength(1);
    await engine.stop();
    const later = await running({ disk });
    expect(later.engine.ledger.adoption).toEqual(window);
  });

  test("has no known beginning in a ledger of an older version: it adopts nothing", async () => {
    const disk = memoryDisk();
    const older = memoryStore(disk);
    await older.open();
    await older.commit({ number: 1, at: 1, entries: [] });
    await older.close();
    const { engine } = await running({ disk });
    expect(engine.ledger.adoption).toBeUndefined();
  });
});

describe("a replica that does not lead", () => {
  const RESERVE = reserve("rome", 1, { key: "k" });
  const ADVERTISE: Command = { kind: "advertise", advertisement: cluster("paris") };

  /** The engine of a replica whose leadership is in the hands of the test. */
  async function replica() {
    let fault: Fault | undefined;
    let isDeposed = false;
    const lost = new StoreFailure("deposed", "another replica leads now: oslo");
    const started = await running({
      through: ({ commit }) => ({ commit: (batch) => (isDeposed ? Promise.reject(lost) : commit(batch)) }),
      notLeading: () => fault,
    });
    const leads = (next: boolean): void => {
      fault = next ? undefined : new Fault("not-leader", "it may not lead any more");
    };
    const depose = (): void => {
      isDeposed = true;
    };
    return { ...started, leads, depose };
  }

  test.each([RESERVE, ADVERTISE])("takes no $kind in", async (command) => {
    const { engine, store, leads } = await replica();
    leads(false);
    await expect(engine.submit(command)).rejects.toMatchObject({ code: "not-leader" });
    leads(true);
    await expect(engine.submit(command)).resolves.toBeDefined();
    expect(store.commits.length).toBeLessThanOrEqual(1);
  });

  test("does not answer from what it remembers, even what was taken in while it led", async () => {
    const { engine, leads } = await replica();
    await engine.submit(RESERVE);
    // The same key again: there is nothing to commit, so no store would notice that another one leads.
    const replayed = engine.submit(RESERVE);
    leads(false);
    await expect(replayed).rejects.toMatchObject({ code: "not-leader" });
    leads(true);
    expect(await engine.submit(RESERVE)).toMatchObject({ kind: "current", isReplay: true });
  });

  test("and learns it from a commit says so to its callers, reserves nothing, and is no broken one", async () => {
    const { engine, store, fatal, depose } = await replica();
    depose();
    const message = expect.stringContaining("oslo");
    await expect(engine.submit(RESERVE)).rejects.toMatchObject({ code: "not-leader", message });
    expect(engine.ledger.reservations.size).toBe(0);
    expect([store.commits, fatal]).toEqual([[], []]);
  });
});
