import { expect, test } from "vitest";
import { cluster, priced, request } from "../testing/builders.ts";
import { actor, HOUR_MS, openWorld, type World } from "../testing/world.ts";
import { chargeFor, dateOf, utcDay } from "./charges.ts";
import { committedOn } from "./closed-days.ts";
import { passedOver } from "./passed-over.ts";
import { tenantStatuses } from "./tenant-status.ts";
import { admit, queue } from "./testing/queue-world.ts";

const DAY_MS = 24 * HOUR_MS;
const EUR = 1_000_000;

/** It is noon. A CPU of paris costs 1 EUR an hour, and its memory nothing; ml has 20 EUR a day. */
function openBudget(perDay = 20 * EUR, more: Parameters<typeof openWorld>[0] = {}): World {
  const ml = { members: [{ cluster: "rome" }], weight: 1, quota: {}, budget: { perDay } };
  const world = openWorld({ stalenessMs: 1e12, tenants: { ml }, ...more });
  world.advertise(cluster("paris", { more: { cost: PRICES } }));
  return world;
}

const PRICES = priced(1, { onDemand: { cpuHour: 1, memoryGbHour: 0 } });

function cpus(cpu: number, hours?: number) {
  return request({ cpu }, hours === undefined ? {} : { durationMs: hours * HOUR_MS });
}

/** In EUR, `later` days from today. */
function committed(world: World, tenant = "ml", later = 0): number {
  const day = utcDay(world.now) + later;
  return committedOn(world.ledger, tenant, { day, now: world.now }) / EUR;
}

test("a reservation is charged to its end, and one without an end to midnight and again at each midnight", () => {
  const world = openBudget(1000 * EUR);
  world.grant("rome", cpus(2, 3), "ends");
  expect(committed(world)).toBe(6);
  world.grant("rome", cpus(1), "open");
  expect(committed(world)).toBe(18);
  expect(committed(world, "ml", 1)).toBe(0);
  world.pass(12 * HOUR_MS);
  expect(committed(world)).toBe(24);
  expect(committed(world, "ml", -1)).toBe(18);
});

test("a reservation that lasts for days is charged on each of them", () => {
  const world = openBudget(1000 * EUR);
  world.grant("rome", cpus(1, 12 + 24 + 24 + 6));
  expect([0, 1, 2, 3, 4].map((later) => committed(world, "ml", later))).toEqual([12, 24, 24, 6, 0]);
});

test("what is left after an early end is given back, and what was used is not", () => {
  const world = openBudget();
  world.grant("rome", cpus(1, 20), "k");
  expect([committed(world), committed(world, "ml", 1)]).toEqual([12, 8]);
  world.pass(2 * HOUR_MS);
  world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-k" });
  expect([committed(world), committed(world, "ml", 1)]).toEqual([2, 0]);
});

test("a reservation that expires late is charged to its expiry", () => {
  const world = openBudget();
  world.grant("rome", cpus(1, 2));
  world.pass(5 * HOUR_MS);
  expect(committed(world)).toBe(2);
});

test("what fractions of a price add does not make it dearer, and parts of a millionth are rounded up", () => {
  expect(chargeFor(0.07, DAY_MS)).toBe(1_680_000n);
  expect(chargeFor(0.000_001, 1)).toBe(1n);
  expect(chargeFor(1e308, DAY_MS)).toBe(BigInt(Number.MAX_SAFE_INTEGER));
  expect(chargeFor(0, DAY_MS)).toBe(0n);
});

test("a request that the budget does not allow is rejected like one over its quota, and says by how much", () => {
  const world = openBudget();
  world.grant("rome", cpus(4, 4));
  expect(world.reserve("rome", cpus(1, 5))).toEqual({
    kind: "rejected",
    code: "quota-exceeded",
    message:
      "paris would cost 5 EUR on 2026-01-05; tenant ml has a budget of 20 EUR a day (UTC), and 16 EUR are committed " +
      "for that day; release some, ask again on another day, or have an admin raise the tenant's budget in the policy",
  });
  expect(world.reserve("rome", cpus(1, 4)).kind).toBe("granted");
  expect(committed(world)).toBe(20);
});

test("a budget counts for what all clusters of its tenant hold, and for nobody else", () => {
  const ml = {
    members: [{ cluster: "rome" }, { cluster: "oslo" }],
    weight: 1,
    quota: {},
    budget: { perDay: 20 * EUR },
  };
  const world = openBudget(0, { tenants: { ml } });
  world.grant("rome", cpus(4, 4));
  expect(world.reserve("oslo", cpus(2, 4))).toMatchObject({ kind: "rejected", code: "quota-exceeded" });
  expect(world.reserve("bern", cpus(2, 4)).kind).toBe("granted");
  expect(committed(world, "bern")).toBe(8);
});

test("a request that reaches a day that is full is rejected, and a shorter one is granted", () => {
  const world = openBudget(26 * EUR);
  world.grant("rome", cpus(1, 12 + 23));
  expect(world.reserve("rome", cpus(1, 12 + 4)).kind).toBe("rejected");
  expect(world.reserve("rome", cpus(1, 12 + 3)).kind).toBe("granted");
});

test("a request that ends at midnight does not reach the next day", () => {
  const world = openBudget(24 * EUR);
  world.grant("rome", cpus(1, 12 + 24));
  expect(world.reserve("rome", cpus(1, 12)).kind).toBe("granted");
});

test("a day in the middle that is full stops a request, also if its first and last day are not", () => {
  const world = openBudget(49 * EUR);
  world.grant("rome", cpus(1, 12 + 24), "tomorrow");
  world.grant("rome", cpus(1, 36), "also tomorrow");
  expect(world.reserve("rome", cpus(1, 12 + 48 + 1))).toMatchObject({
    code: "quota-exceeded",
    message: expect.stringContaining("24 EUR on 2026-01-06") as string,
  });
  expect(world.reserve("rome", cpus(1, 12)).kind).toBe("granted");
});

test("one without an end is granted if it can be paid to midnight, and may exceed the budget later", () => {
  const world = openBudget(20 * EUR);
  world.grant("rome", cpus(1));
  world.pass(12 * HOUR_MS);
  expect(committed(world)).toBe(24);
  expect(world.reservation("rsv-rome-1").phase).toBe("Reserved");
  expect(world.reserve("rome", cpus(1, 1)).kind).toBe("rejected");
});

test("a provider that is too dear is passed over for one that can be paid, and says why", () => {
  const world = openBudget();
  world.advertise(
    cluster("berlin", { cpu: 8, more: { cost: { ...PRICES, onDemand: { cpuHour: 0.1, memoryGbHour: 0 } } } }),
  );
  world.policy = { ...world.policy, weights: { resources: 1, cost: 0 } };
  const reply = world.reserve("rome", cpus(4, 12));
  if (reply.kind !== "granted") throw new Error(`expected a grant, got ${JSON.stringify(reply)}`);
  expect(reply.reservation.provider).toBe("berlin");
  expect(reply.decision.refusedBy).toEqual({ budget: 1 });
});

test("tenants with a budget are not lent to without a price, others are", () => {
  const world = openBudget();
  world.advertise(cluster("paris"));
  const { candidates } = world.refusal("rome", cpus(1, 1));
  expect(candidates[0]?.outcome).toMatchObject({
    refusal: { filter: "unpriced", message: "has no price for this, and tenant ml has a budget" },
  });
  expect(world.reserve("bern", cpus(1, 1)).kind).toBe("granted");
});

test("a request over its budget waits with its reason, and is let in when something is given back", () => {
  const world = openBudget();
  world.grant("rome", cpus(4, 5), "k");
  const entry = queue(world, "rome", "waits", { cpu: 1, durationMs: HOUR_MS, forMs: 24 * HOUR_MS });
  const context = { now: world.now, policy: world.policy };
  expect(passedOver(world.ledger, { entry, tenant: "ml" }, context)).toBe("Budget");
  expect(admit(world)).toEqual([]);
  world.pass(HOUR_MS);
  world.run({ kind: "release", by: actor("rome"), id: "rsv-rome-k" });
  expect(admit(world)).toEqual(["rsv-rome-waits"]);
});

test("one that lacks capacity and has a budget waits for capacity", () => {
  const world = openBudget();
  world.grant("bern", cpus(16));
  const entry = queue(world, "rome", "waits", { cpu: 1, durationMs: HOUR_MS });
  const context = { now: world.now, policy: world.policy };
  expect(passedOver(world.ledger, { entry, tenant: "ml" }, context)).toBe("Capacity");
});

test("on a new day the queue is looked at before anybody else is served", () => {
  const world = openBudget();
  world.grant("rome", cpus(5, 4), "k");
  world.grant("bern", cpus(10), "holder");
  queue(world, "rome", "waits", { cpu: 1, durationMs: HOUR_MS, forMs: 24 * HOUR_MS });
  world.pass(4 * HOUR_MS);
  expect(admit(world)).toEqual([]);
  expect(world.reserve("bern", cpus(1, 1)).kind).toBe("granted");
  world.now += 8 * HOUR_MS;
  expect(world.reserve("bern", cpus(1, 1))).toMatchObject({ kind: "rejected", code: "overloaded" });
  expect(admit(world)).toEqual(["rsv-rome-waits"]);
  expect(world.reserve("bern", cpus(1, 1)).kind).toBe("granted");
});

test("nothing is kept for a request that its budget does not allow", () => {
  const world = openBudget();
  world.grant("rome", cpus(4, 5), "k");
  world.grant("bern", cpus(12, 2), "holder");
  queue(world, "rome", "waits", { cpu: 8, durationMs: HOUR_MS });
  admit(world);
  expect(world.ledger.plans.size).toBe(0);
});

test("who waited for its budget in vain is told so", () => {
  const world = openBudget();
  world.grant("rome", cpus(5, 4));
  queue(world, "rome", "waits", { cpu: 1, durationMs: HOUR_MS, forMs: HOUR_MS });
  world.pass(HOUR_MS);
  expect(world.ledger.waiting.byId.get("rsv-rome-waits")?.message).toMatch(
    /^paris would cost 1 EUR on 2026-01-05; tenant ml has a budget of 20 EUR a day/,
  );
});

function renew(world: World, hours: number) {
  const command = {
    kind: "renew",
    by: actor("rome"),
    id: "rsv-rome-k",
    durationMs: hours * HOUR_MS,
  } as const;
  return world.reply(command);
}

test("a renewal is charged for what it adds, and refused where that exceeds the budget of a day", () => {
  const world = openBudget();
  const { expiresAt } = world.grant("rome", cpus(2, 4), "k");
  expect(renew(world, 8).kind).toBe("current");
  expect(committed(world)).toBe(16);
  expect(renew(world, 11)).toMatchObject({
    kind: "rejected",
    code: "quota-exceeded",
    message: expect.stringMatching(
      /^rsv-rome-k, renewed, would cost 22 EUR on 2026-01-05; tenant ml has a budget of 20 EUR/,
    ) as string,
  });
  expect(world.reservation("rsv-rome-k").expiresAt).toBe((expiresAt ?? 0) + 4 * HOUR_MS);
  expect(renew(world, 10).kind).toBe("current");
  expect(committed(world)).toBe(20);
});

test("a renewal into a day that is paid already counts there only", () => {
  const world = openBudget(24 * EUR);
  world.grant("rome", cpus(1, 12), "k");
  world.grant("rome", cpus(1), "open");
  expect(renew(world, 36).kind).toBe("current");
  expect([committed(world), committed(world, "ml", 1)]).toEqual([24, 24]);
});

test("a renewal of what was granted before there was a budget, and has no price, goes on", () => {
  const world = openBudget();
  world.advertise(cluster("paris"));
  const { policy } = world;
  world.policy = { ...policy, tenants: {} };
  world.grant("rome", cpus(1, 2), "k");
  world.policy = policy;
  expect(renew(world, 5).kind).toBe("current");
});

test("a day that is over is written down before what ran on it is forgotten, and kept for forty days", () => {
  const world = openBudget(1000 * EUR);
  world.grant("rome", cpus(1, 2));
  world.grant("bern", cpus(1, 13));
  const first = utcDay(world.now);
  world.pass(13 * HOUR_MS);
  expect([...world.ledger.closedDays.values()]).toEqual([
    {
      day: first,
      committed: [
        ["bern", 12 * EUR],
        ["ml", 2 * EUR],
      ],
    },
  ]);
  world.pass(2 * DAY_MS);
  expect(world.ledger.reservations.size).toBe(0);
  expect(world.ledger.charges.size).toBe(0);
  expect([committed(world, "bern", -3), committed(world, "bern", -2)]).toEqual([12, 1]);
  world.grant("rome", cpus(1, 1));
  world.pass(37 * DAY_MS);
  expect(world.ledger.closedDays.has(first)).toBe(true);
  world.grant("rome", cpus(1, 1));
  world.pass(2 * DAY_MS);
  expect(world.ledger.closedDays.has(first)).toBe(false);
});

test("after a long silence only the last forty days are written down", () => {
  const world = openBudget(1e15);
  world.grant("rome", cpus(1));
  world.pass(100 * DAY_MS);
  const days = [...world.ledger.closedDays.keys()];
  expect([days.length, days[0], days.at(-1)]).toEqual([40, utcDay(world.now) - 40, utcDay(world.now) - 1]);
  expect(committed(world, "ml", -40)).toBe(24);
});

test("the view of tenants shows what each has committed today, and may spend", () => {
  const world = openBudget();
  world.grant("rome", cpus(4, 2));
  world.grant("bern", cpus(8));
  expect(tenantStatuses(world.ledger, world)).toMatchObject([
    { name: "ml", share: 0.25, committedToday: 8 * EUR, rules: { budget: { perDay: 20 * EUR } } },
    { name: "bern", share: 0.5, committedToday: 96 * EUR },
  ]);
  world.pass(3 * DAY_MS);
  expect(tenantStatuses(world.ledger, world)).toMatchObject([
    { name: "ml", account: { reservations: 0 }, committedToday: 0 },
    { name: "bern", committedToday: 192 * EUR },
  ]);
});

test("a reservation longer than dates go has a day too", () => {
  expect(dateOf(utcDay(8.7e15))).toBe("day 100694444");
  const world = openBudget(1e15);
  world.grant("rome", request({ cpu: 1 }, { durationMs: Number.MAX_SAFE_INTEGER }));
  expect(committed(world, "ml", 100_000)).toBe(24);
});
