import type { Command, Reply } from "@resource-broker/domain";
import { actor, cluster, MINUTE_MS, priced, request } from "@resource-broker/domain/testing";
import { fakeClock, settle } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import type { Store } from "../store/store.ts";
import { runEngine } from "./testing/run-engine.ts";

let serial = 0;

interface Ask {
  readonly cpu?: number;
  readonly isWaiting?: boolean;
  readonly durationMs?: number;
}

function reserve(requester: string, key: string, more: Ask = {}): Command {
  const { cpu = 16, isWaiting = true, durationMs } = more;
  return {
    kind: "reserve",
    requester,
    key,
    request: request({ cpu, memoryGi: 1 }, durationMs === undefined ? {} : { durationMs }),
    ...(isWaiting ? { wait: { forMs: 60 * MINUTE_MS } } : {}),
    reservationId: `rsv-${requester}-${key}`,
    decisionId: `dec-${++serial}`,
  };
}

const HOLDER = { kind: "release", by: actor("rome"), id: "rsv-rome-holder" } as const;

/** rome holds all of paris. */
async function fullFleet(setup: Parameters<typeof runEngine>[0] = {}) {
  const running = await runEngine(setup);
  const { engine } = running;
  await engine.submit({ kind: "advertise", advertisement: cluster("paris") });
  await engine.submit(reserve("rome", "holder"));
  return running;
}

function phaseOf({ engine }: Pick<Awaited<ReturnType<typeof fullFleet>>, "engine">, id: string) {
  return engine.ledger.reservations.get(id)?.phase ?? engine.ledger.waiting.byId.get(id)?.phase;
}

describe("a waiting request", () => {
  test("is granted in the batch after the release, without anybody asking", async () => {
    const { engine, clock } = await fullFleet();
    expect((await engine.submit(reserve("oslo", "k"))).kind).toBe("waiting");
    await engine.submit(HOLDER);
    await clock.advance(0);
    await settle();
    expect(phaseOf({ engine }, "rsv-oslo-k")).toBe("Reserved");
  });

  test("comes before a newcomer in the very batch of the release", async () => {
    const { engine } = await fullFleet();
    await engine.submit(reserve("oslo", "k"));
    const [, newcomer] = await Promise.all<Reply>([
      engine.submit(HOLDER),
      engine.submit(reserve("bern", "late", { isWaiting: false })),
    ]);
    expect(newcomer?.kind).toBe("refused");
    expect(phaseOf({ engine }, "rsv-oslo-k")).toBe("Reserved");
  });

  test("is one of 64 at most that are granted in a batch, however many newcomers come with it", async () => {
    const { engine } = await runEngine();
    await engine.submit({ kind: "advertise", advertisement: cluster("paris", { cpu: 200, memoryGi: 800 }) });
    await engine.submit(reserve("rome", "holder", { cpu: 200 }));
    for (const requester of ["oslo", "kyiv"])
      for (let count = 0; count < 100; count++)
        await engine.submit(reserve(requester, `k${count}`, { cpu: 1 }));
    const [, first, second, third] = await Promise.all<Reply>([
      engine.submit(HOLDER),
      ...["a", "b"].map((key) => engine.submit(reserve("bern", key, { cpu: 1, isWaiting: false }))),
      engine.submit(reserve("bern", "waits", { cpu: 1 })),
    ]);
    expect([...engine.ledger.accounts.values()].map(({ asProvider }) => asProvider.size)).toContain(64);
    expect([first, second]).toMatchObject([{ code: "overloaded" }, { code: "overloaded" }]);
    expect(third?.kind).toBe("waiting");
  });

  test("is looked at a quarter of a second after an advertisement that offers more", async () => {
    const { engine, clock } = await fullFleet();
    await engine.submit(reserve("oslo", "k"));
    await engine.submit({ kind: "advertise", advertisement: cluster("paris", { cpu: 40 }) });
    await clock.advance(249);
    await settle();
    expect(phaseOf({ engine }, "rsv-oslo-k")).toBe("Pending");
    await clock.advance(1);
    await settle();
    expect(phaseOf({ engine }, "rsv-oslo-k")).toBe("Reserved");
  });

  test("is looked at for what only time brings, however busy the broker is", async () => {
    const { engine, clock } = await fullFleet();
    await engine.submit(HOLDER);
    await engine.submit(reserve("oslo", "refused"));
    await engine.submit({ kind: "refuse", by: actor("paris"), id: "rsv-oslo-refused", why: "full" });
    await engine.submit(reserve("oslo", "k"));
    expect(phaseOf({ engine }, "rsv-oslo-k")).toBe("Pending");
    for (let second = 0; second < 11 * 60; second += 20) {
      await clock.advance(20_000);
      for (const [name, cpu] of [
        ["paris", 16],
        ["oslo", 0],
      ] as const)
        await engine.submit({ kind: "advertise", advertisement: cluster(name, { cpu }) });
      await engine.submit(reserve("bern", `too-much-${second}`, { cpu: 99, isWaiting: false }));
      await settle();
    }
    expect(phaseOf({ engine }, "rsv-oslo-k")).toBe("Reserved");
  });

  test("is looked at again when the policy changes", async () => {
    const { engine, clock } = await fullFleet({ policy: { quotas: { oslo: { reservations: 0 } } } });
    await engine.submit(HOLDER);
    await engine.submit(reserve("oslo", "k"));
    expect(phaseOf({ engine }, "rsv-oslo-k")).toBe("Pending");
    engine.setPolicy({ ...engine.policy, quotas: {} });
    await clock.advance(0);
    await settle();
    expect(phaseOf({ engine }, "rsv-oslo-k")).toBe("Reserved");
  });

  test("comes before a newcomer when the policy has just changed", async () => {
    const { engine } = await fullFleet({ policy: { quotas: { oslo: { reservations: 0 } } } });
    await engine.submit(HOLDER);
    await engine.submit(reserve("oslo", "k"));
    engine.setPolicy({ ...engine.policy, quotas: {} });
    const newcomer = await engine.submit(reserve("bern", "late", { isWaiting: false }));
    expect(newcomer.kind).toBe("refused");
    expect(phaseOf({ engine }, "rsv-oslo-k")).toBe("Reserved");
  });

  test("is looked at at once when the policy changes during a commit", async () => {
    let commits = Promise.resolve();
    const through = (store: Store): Partial<Store> => ({
      commit: async (batch) => {
        await commits;
        return await store.commit(batch);
      },
    });
    const policy = { quotas: { oslo: { reservations: 0 } } };
    const { engine, clock } = await fullFleet({ policy, through });
    await engine.submit(HOLDER);
    await engine.submit(reserve("oslo", "k"));
    let goOn = () => {};
    commits = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const refused = engine.submit(reserve("bern", "too-much", { cpu: 99, isWaiting: false }));
    await settle();
    engine.setPolicy({ ...engine.policy, quotas: {} });
    goOn();
    await refused;
    await clock.advance(0);
    await settle();
    expect(phaseOf({ engine }, "rsv-oslo-k")).toBe("Reserved");
  });

  test("survives a commit that failed: it is admitted again", async () => {
    const { engine, clock, store } = await fullFleet();
    await engine.submit(reserve("oslo", "k"));
    store.failNextCommit("not-committed");
    await expect(engine.submit(HOLDER)).rejects.toThrow("not-committed");
    expect(phaseOf({ engine }, "rsv-oslo-k")).toBe("Pending");
    await engine.submit(HOLDER);
    await clock.advance(0);
    await settle();
    expect(phaseOf({ engine }, "rsv-oslo-k")).toBe("Reserved");
  });

  test("is not looked at again and again while the store does not work", async () => {
    let commits = 0;
    const through = (store: Store): Partial<Store> => ({
      commit: (batch) => {
        commits++;
        return store.commit(batch);
      },
    });
    const { engine, clock, store } = await fullFleet({ through });
    await engine.submit(reserve("oslo", "k"));
    await engine.submit({ kind: "advertise", advertisement: cluster("paris", { cpu: 40 }) });
    const repair = store.fill();
    const before = commits;
    await clock.advance(3000);
    expect(commits - before).toBeGreaterThan(0);
    expect(commits - before).toBeLessThan(10);
    repair();
    await clock.advance(2000);
    expect(phaseOf({ engine }, "rsv-oslo-k")).toBe("Reserved");
  });

  test("is admitted after a restart, and does not fail before its providers could speak", async () => {
    const { engine, disk, clock } = await fullFleet();
    await engine.submit(reserve("oslo", "k"));
    await engine.stop();
    await clock.advance(61 * MINUTE_MS);
    const next = await runEngine({ disk, clock });
    await clock.advance(3 * MINUTE_MS);
    await settle();
    expect(phaseOf(next, "rsv-oslo-k")).toBe("Pending");
    await clock.advance(2 * MINUTE_MS);
    await settle();
    expect(phaseOf(next, "rsv-oslo-k")).toBe("Failed");
  });
});

const TENANTS = {
  ml: { members: [{ cluster: "oslo" }], weight: 1, quota: {}, budget: { perDay: 96_667 } },
};

describe("a request that its budget stopped", () => {
  /** 290 s before midnight oslo has spent all that it may for this day, and waits. */
  async function spent() {
    const clock = fakeClock(Date.UTC(2026, 0, 5, 23, 55, 10));
    const running = await runEngine({ clock, policy: { tenants: TENANTS, stalenessMs: 1e12 } });
    const { engine } = running;
    const cost = priced(1, { onDemand: { cpuHour: 0.1, memoryGbHour: 0 } });
    await engine.submit({ kind: "advertise", advertisement: cluster("paris", { more: { cost } }) });
    await engine.submit(reserve("oslo", "first", { cpu: 12, durationMs: 7 * MINUTE_MS }));
    const second = reserve("oslo", "second", { cpu: 4, durationMs: 2 * MINUTE_MS });
    expect((await engine.submit(second)).kind).toBe("waiting");
    return running;
  }

  test("is granted half a minute after midnight at the latest", async () => {
    const { engine, clock } = await spent();
    await clock.advance(289_999);
    await settle();
    expect(phaseOf({ engine }, "rsv-oslo-second")).toBe("Pending");
    await clock.advance(30_000);
    await settle();
    expect(phaseOf({ engine }, "rsv-oslo-second")).toBe("Reserved");
  });

  test("comes before the first newcomer after midnight", async () => {
    const { engine, clock } = await spent();
    await clock.advance(295_000);
    await settle();
    expect(phaseOf({ engine }, "rsv-oslo-second")).toBe("Pending");
    const newcomer = await engine.submit(reserve("bern", "late", { cpu: 4, isWaiting: false }));
    expect(newcomer.kind).toBe("refused");
    expect(phaseOf({ engine }, "rsv-oslo-second")).toBe("Reserved");
  });
});

test("a quote names the budget that it exceeds", async () => {
  const { engine } = await runEngine({ policy: { tenants: TENANTS } });
  await engine.submit({ kind: "advertise", advertisement: cluster("paris", { more: { cost: priced(1) } }) });
  expect(engine.quote("oslo", request({ cpu: 2 }))).toMatchObject({
    kind: "rejected",
    code: "quota-exceeded",
  });
  expect(engine.quote("bern", request({ cpu: 2 })).kind).toBe("granted");
});

test("a quote does not wait for a look at the queue", async () => {
  const { engine } = await fullFleet();
  await engine.submit(reserve("oslo", "k"));
  await engine.submit({ kind: "advertise", advertisement: cluster("berlin", { cpu: 4 }) });
  await engine.submit({ kind: "advertise", advertisement: cluster("paris", { cpu: 40 }) });
  expect(engine.quote("bern", request({ cpu: 2 })).kind).toBe("granted");
});
