import { describe, expect, test } from "vitest";
import { ledgerFrom } from "../ledger/records.ts";
import { explain } from "../scheduling/explain.ts";
import { cluster, size } from "../testing/builders.ts";
import { comparableLedger, recordsOf } from "../testing/comparable-ledger.ts";
import { ADMIN, actor, HOUR_MS, MINUTE_MS, type World } from "../testing/world.ts";
import { replayQueue } from "./queue-record.ts";
import { admit, ask, hold, openMarket, pass, queue, underNotice } from "./testing/queue-world.ts";

const GRACE_MS = 5 * MINUTE_MS;
const URGENT = "rsv-oslo-urgent";

/** rome holds 10 and 6 CPU of the spot tier at paris; both have notice for oslo, which waits for all 16. */
function noticed(): World {
  const world = openMarket();
  hold(world, "rome", "ten", { cpu: 10, tier: "spot" });
  hold(world, "rome", "six", { cpu: 6, tier: "spot" });
  pass(world, 15 * MINUTE_MS);
  queue(world, "oslo", "urgent", { priority: 50, forMs: 10 * HOUR_MS });
  admit(world);
  expect(underNotice(world)).toEqual(["rsv-rome-ten", "rsv-rome-six"]);
  return world;
}

/** The kinds of the events of one command, with what they are about. */
function eventsOf(world: World, command: Parameters<World["run"]>[0]): string[] {
  return world.run(command).events.map((event) => ("id" in event ? `${event.kind} ${event.id}` : event.kind));
}

function release(requester: string, key: string) {
  return { kind: "release", by: actor(requester), id: `rsv-${requester}-${key}` } as const;
}

describe("at the deadline of a notice", () => {
  test("the victims end as preempted, not a millisecond earlier, and the request starts", () => {
    const world = noticed();
    pass(world, GRACE_MS - 1);
    expect(underNotice(world)).toHaveLength(2);
    pass(world, 1);
    expect(world.reservation("rsv-rome-ten")).toMatchObject({
      phase: "Failed",
      reason: "Preempted",
      message: "a request of priority 50 that waited needs its capacity",
      endedAt: world.now,
    });
    expect(admit(world)).toEqual([URGENT]);
    expect(world.reservation(URGENT).provider).toBe("paris");
  });

  test("only those end that are still needed", () => {
    const world = noticed();
    world.advertise(cluster("paris", { cpu: 22 }));
    pass(world, GRACE_MS);
    expect(world.reservation("rsv-rome-six").preemption).toBeUndefined();
    expect(world.reservation("rsv-rome-ten").reason).toBe("Preempted");
  });

  test("whatever else ends in that moment goes first, and may spare them", () => {
    const world = openMarket();
    world.policy = { ...world.policy, activationTimeoutMs: 20 * MINUTE_MS };
    world.advertise(cluster("bern", { cpu: 0, memoryGi: 0 }));
    hold(world, "rome", "spot", { cpu: 10, tier: "spot" });
    world.run({ kind: "activate", by: actor("rome"), id: "rsv-rome-spot" });
    hold(world, "bern", "never-used", { cpu: 6 });
    pass(world, 15 * MINUTE_MS);
    queue(world, "oslo", "urgent", { cpu: 6, priority: 50 });
    admit(world);
    expect(underNotice(world)).toEqual(["rsv-rome-spot"]);
    pass(world, GRACE_MS);
    expect(world.reservation("rsv-bern-never-used").reason).toBe("ActivationTimeout");
    expect(world.run({ kind: "expire-due" }).events).toMatchObject([
      { kind: "reprieved", id: "rsv-rome-spot" },
    ]);
    expect(admit(world)).toEqual([URGENT]);
  });

  test("nobody ends where the request could not start even then", () => {
    const world = noticed();
    world.advertise(cluster("paris", { cpu: 16, allocated: { cpu: 1 } }));
    pass(world, GRACE_MS);
    expect(world.ledger.accounts.get("paris")?.asProvider.size).toBe(2);
    expect(underNotice(world)).toEqual([]);
    admit(world);
    expect(world.ledger.waiting.byId.get(URGENT)?.nominated).toBeUndefined();
  });

  test("nobody ends for a requester that is silent", () => {
    const world = noticed();
    world.now += GRACE_MS;
    world.advertise(cluster("paris"));
    world.run({ kind: "expire-due" });
    expect(world.ledger.accounts.get("paris")?.asProvider.size).toBe(2);
  });

  test("one that expires before it does so", () => {
    const world = openMarket();
    hold(world, "rome", "spot", { tier: "spot", durationMs: 19 * MINUTE_MS });
    pass(world, 11 * MINUTE_MS);
    queue(world, "oslo", "urgent", { priority: 50 });
    world.policy = { ...world.policy, queue: { ...world.policy.queue, turnaroundMs: 0 } };
    admit(world);
    expect(underNotice(world)).toHaveLength(1);
    pass(world, 8 * MINUTE_MS);
    expect(world.reservation("rsv-rome-spot").reason).toBe("Preempted");
  });
});

describe("in the same commit the victims are reprieved", () => {
  const both = ["reprieved rsv-rome-six", "reprieved rsv-rome-ten"];

  test("when the request is released, by ID and by key", () => {
    expect(eventsOf(noticed(), release("oslo", "urgent"))).toEqual([
      `unqueued ${URGENT}`,
      "key-closed",
      ...both,
    ]);
    expect(eventsOf(noticed(), { kind: "release-by-key", requester: "oslo", key: "urgent" })).toEqual([
      `unqueued ${URGENT}`,
      "key-closed",
      ...both,
    ]);
  });

  test("when its requester is evicted", () => {
    const events = eventsOf(noticed(), { kind: "evict", by: ADMIN, clusterId: "oslo" });
    expect(events).toEqual(expect.arrayContaining(both));
  });

  test("when it has waited in vain, even at the deadline of the notice", () => {
    const world = openMarket();
    hold(world, "rome", "ten", { cpu: 10, tier: "spot" });
    hold(world, "rome", "six", { cpu: 6, tier: "spot" });
    pass(world, 15 * MINUTE_MS);
    queue(world, "oslo", "urgent", { priority: 50, forMs: GRACE_MS });
    admit(world);
    world.now += GRACE_MS;
    world.advertise(cluster("paris"));
    world.advertise(cluster("oslo", { cpu: 0, memoryGi: 0, more: { protocol: 3 } }));
    expect(eventsOf(world, { kind: "expire-due" }).sort()).toEqual([...both.sort(), `unqueued ${URGENT}`]);
  });

  test("when it is granted elsewhere", () => {
    const world = noticed();
    world.advertise(cluster("berlin"));
    const outcome = world.run({ kind: "admit", decisionId: "dec" });
    expect(outcome.events.map(({ kind }) => kind)).toEqual(["granted", "reprieved", "reprieved"]);
    expect(underNotice(world)).toEqual([]);
    pass(world, 2 * GRACE_MS);
    expect(world.ledger.accounts.get("paris")?.asProvider.size).toBe(2);
  });

  test("when its provider is cordoned", () => {
    const world = noticed();
    world.run({ kind: "cordon", by: ADMIN, clusterId: "paris" });
    expect(eventsOf(world, { kind: "admit", decisionId: "dec" })).toEqual([
      `nomination-lapsed ${URGENT}`,
      ...both,
    ]);
  });
});

test("a nomination waits for what the last of its victims gives back, and not for long", () => {
  const world = noticed();
  const usage = ["ten", "six"].map((key) => {
    const { id, granted } = world.reservation(`rsv-rome-${key}`);
    return { reservationId: id, granted, used: granted };
  });
  world.advertise(cluster("paris", { more: { usage } }));
  world.run(release("rome", "six"));
  pass(world, GRACE_MS);
  expect(world.reservation("rsv-rome-ten").reason).toBe("Preempted");
  pass(world, GRACE_MS);
  expect(admit(world)).toEqual([]);
  expect(world.ledger.waiting.byId.get(URGENT)?.nominated?.provider).toBe("paris");
  pass(world, GRACE_MS);
  expect(admit(world)).toEqual([]);
  expect(world.ledger.waiting.byId.get(URGENT)?.nominated).toBeUndefined();
});

test("when others give back enough, whoever is no longer needed is reprieved at the next look", () => {
  const world = openMarket();
  for (const key of ["a", "b"]) hold(world, "rome", key, { cpu: 6, tier: "spot" });
  hold(world, "bern", "c", { cpu: 4 });
  pass(world, 15 * MINUTE_MS);
  queue(world, "oslo", "urgent", { cpu: 10, priority: 50 });
  admit(world);
  expect(underNotice(world)).toHaveLength(2);
  world.run(release("bern", "c"));
  admit(world);
  expect(underNotice(world)).toEqual(["rsv-rome-a"]);
});

describe("what is free for the nominated request", () => {
  test("is lent to no lower rank, however short, but to a higher one", () => {
    const world = noticed();
    world.run(release("rome", "six"));
    const short = { cpu: 2, durationMs: MINUTE_MS };
    expect(ask(world, "bern", "short", short).kind).toBe("waiting");
    expect(admit(world)).toEqual([]);
    expect(ask(world, "bern", "equal", { ...short, priority: 50 }).kind).toBe("waiting");
    expect(ask(world, "bern", "higher", { ...short, priority: 51 }).kind).toBe("granted");
  });

  test("is what its victims do not hold: the rest is for anybody", () => {
    const world = openMarket();
    hold(world, "rome", "spot", { cpu: 10, tier: "spot" });
    hold(world, "bern", "rest", { cpu: 3 });
    pass(world, 15 * MINUTE_MS);
    queue(world, "oslo", "urgent", { cpu: 11, priority: 50 });
    admit(world);
    expect(world.account("paris").kept).toMatchObject({
      resources: size({ cpu: 11, memoryGi: 1 }),
      returning: size({ cpu: 10, memoryGi: 1 }),
    });
    expect(ask(world, "bern", "too-much", { cpu: 3 }).kind).toBe("waiting");
    expect(ask(world, "bern", "little", { cpu: 2 }).kind).toBe("granted");
  });

  test("grows as the victims end, and while their pods still run it is not free", () => {
    const world = noticed();
    pass(world, GRACE_MS);
    const usage = [{ id: "rsv-rome-ten", granted: { cpu: 10 }, used: { cpu: 4 } }];
    world.advertise(cluster("paris", { usage }));
    expect(admit(world)).toEqual([]);
    expect(world.account("paris")).toMatchObject({
      kept: { returning: size({ cpu: 4 }) },
      overcommitted: size({}),
      reserved: size({ cpu: 4 }),
    });
    expect(ask(world, "bern", "one", { cpu: 1, durationMs: 1000 }).kind).toBe("waiting");
    world.advertise(cluster("paris"));
    expect(admit(world)).toEqual([URGENT]);
  });

  test("is kept for ten minutes after the last victim has ended", () => {
    const world = noticed();
    pass(world, GRACE_MS);
    const usage = [{ id: "rsv-rome-ten", granted: { cpu: 10 }, used: { cpu: 4 } }];
    world.advertise(cluster("paris", { usage }));
    pass(world, 10 * MINUTE_MS - 1);
    admit(world);
    expect(world.ledger.waiting.byId.get(URGENT)?.nominated).toBeDefined();
    pass(world, 1);
    admit(world);
    expect(world.ledger.waiting.byId.get(URGENT)?.nominated).toBeUndefined();
  });

  test("is renewed by nobody whom it needs, and by everybody else", () => {
    const world = openMarket();
    hold(world, "rome", "spot", { cpu: 10, tier: "spot" });
    hold(world, "rome", "other", { cpu: 6, priority: 99, durationMs: HOUR_MS });
    pass(world, 15 * MINUTE_MS);
    queue(world, "oslo", "urgent", { cpu: 10, priority: 50 });
    admit(world);
    const renew = {
      kind: "renew",
      by: actor("rome"),
      id: "rsv-rome-other",
      durationMs: 2 * HOUR_MS,
    } as const;
    expect(world.reply(renew)).toMatchObject({ reservation: { expiresAt: world.now + 2 * HOUR_MS } });
  });
});

test("a ledger read back after a notice is the same, with what is kept and when the victims end", () => {
  const world = noticed();
  pass(world, MINUTE_MS);
  const rebuilt = ledgerFrom(recordsOf(world.ledger), world.now);
  expect(comparableLedger(rebuilt)).toEqual(comparableLedger(world.ledger));
  expect(rebuilt.accounts.get("paris")?.kept).toEqual(world.account("paris").kept);
});

test("after a start nobody gets notice until the clusters had the time to speak", () => {
  const world = openMarket();
  hold(world, "rome", "spot", { tier: "spot" });
  pass(world, 15 * MINUTE_MS);
  queue(world, "oslo", "urgent", { priority: 50 });
  Object.assign(world.ledger, ledgerFrom(recordsOf(world.ledger), world.now));
  world.now += 119_999;
  admit(world);
  expect(underNotice(world)).toEqual([]);
  world.now += 1;
  admit(world);
  expect(underNotice(world)).toHaveLength(1);
});

describe("a request that resumes a preempted reservation", () => {
  /** rome's reservation has been preempted, and paris is full again. */
  function preempted(): { world: World; since: number } {
    const world = noticed();
    const since = world.reservation("rsv-rome-ten").createdAt;
    pass(world, GRACE_MS);
    admit(world);
    return { world, since };
  }

  test("waits since that one first asked, once", () => {
    const { world, since } = preempted();
    expect(queue(world, "rome", "again", { resumes: "rsv-rome-ten" }).since).toBe(since);
    expect(queue(world, "rome", "twice", { resumes: "rsv-rome-ten" }).since).toBe(world.now);
    expect(ask(world, "rome", "again", {}).kind).toBe("waiting");
  });

  test("keeps its place through a second preemption", () => {
    const { world, since } = preempted();
    queue(world, "rome", "again", { cpu: 16, tier: "spot", resumes: "rsv-rome-ten", forMs: 10 * HOUR_MS });
    world.run(release("oslo", "urgent"));
    expect(admit(world)).toEqual(["rsv-rome-again"]);
    pass(world, 14 * MINUTE_MS);
    queue(world, "oslo", "second", { priority: 50 });
    admit(world);
    pass(world, GRACE_MS);
    admit(world);
    expect(world.reservation("rsv-rome-again").reason).toBe("Preempted");
    expect(queue(world, "rome", "third", { resumes: "rsv-rome-again" }).since).toBe(since);
  });

  const others: readonly { name: string; requester: string; resumes: string; afterMs: number }[] = [
    { name: "of another requester", requester: "oslo", resumes: "rsv-rome-ten", afterMs: 0 },
    { name: "that it does not know", requester: "rome", resumes: "rsv-rome-unknown", afterMs: 0 },
    { name: "an hour later", requester: "rome", resumes: "rsv-rome-ten", afterMs: HOUR_MS + 1 },
    { name: "that ended otherwise", requester: "bern", resumes: "rsv-bern-done", afterMs: 0 },
  ];
  test.each(others)("waits from now if it names one $name", ({ requester, resumes, afterMs }) => {
    const { world } = preempted();
    world.advertise(cluster("berlin"));
    hold(world, "bern", "done", { cpu: 16 });
    world.run(release("bern", "done"));
    world.run({ kind: "cordon", by: ADMIN, clusterId: "berlin" });
    pass(world, afterMs);
    // Whoever has been granted from the queue and did not activate is gone by now.
    ask(world, "bern", "fills", { cpu: 16 });
    expect(queue(world, requester, "again", { resumes }).since).toBe(world.now);
  });
});

describe("the records", () => {
  test("a notice tells the victims and where else others could have been, and gives the same again", () => {
    const world = openMarket();
    hold(world, "rome", "a", { cpu: 16, tier: "spot" });
    world.advertise(cluster("berlin"));
    hold(world, "rome", "b", { cpu: 16, tier: "spot", priority: 1 });
    pass(world, 15 * MINUTE_MS);
    queue(world, "oslo", "urgent", { cpu: 8, priority: 50 });
    const [event] = world.run({ kind: "admit", decisionId: "dec-notice" }).events;
    const decision = event?.kind === "nominated" ? event.decision : undefined;
    if (decision?.notice === undefined) throw new Error("expected a notice");
    const { notice } = decision;
    expect(decision.id).toBe("dec-notice");
    expect(notice.chosen).toMatchObject({ provider: "paris", victims: [{ id: "rsv-rome-a", tier: "spot" }] });
    expect(notice.alternatives.map(({ provider }) => provider)).toEqual(["berlin"]);
    expect(replayQueue(decision)).toBeUndefined();
    const [chosen, other] = [notice.chosen, ...notice.alternatives];
    if (other === undefined) throw new Error("expected an alternative");
    const swapped = { ...decision, notice: { ...notice, chosen: other, alternatives: [chosen] } };
    expect(replayQueue(swapped)).toBe("paris was the better choice for a notice");
    const excessive = { ...chosen, victims: [...chosen.victims, ...other.victims] };
    const tooMany = { ...decision, notice: { ...notice, chosen: excessive, alternatives: [] } };
    expect(replayQueue(tooMany)).toBe("the victims at paris are not those that are needed");
    expect(explain(decision)).toContain(
      "Notice at paris until 2026-01-05T12:20:00.000Z: spot of priority 0. Could have been at berlin.",
    );
  });

  test("a grant from the queue tells who was passed over and who comes next", () => {
    const world = openMarket({ victims: "none" });
    hold(world, "rome", "a", { cpu: 8 });
    hold(world, "rome", "b", { cpu: 8 });
    queue(world, "oslo", "large", { cpu: 16, priority: 9 });
    queue(world, "oslo", "fits", { cpu: 8, durationMs: MINUTE_MS });
    queue(world, "oslo", "later", { cpu: 8 });
    pass(world, MINUTE_MS);
    world.run(release("rome", "a"));
    const [event] = world.run({ kind: "admit", decisionId: "dec" }).events;
    const decision = event?.kind === "granted" ? event.decision : undefined;
    if (decision === undefined) throw new Error("expected a grant");
    const place = { tenant: "oslo", share: 0, since: world.now - MINUTE_MS };
    expect(decision.queue).toEqual({
      of: 3,
      waitedMs: MINUTE_MS,
      priority: 0,
      ...place,
      next: [
        { id: "rsv-oslo-large", priority: 9, ...place, passedOver: "Capacity" },
        { id: "rsv-oslo-later", priority: 0, ...place },
      ],
    });
    expect(replayQueue(decision)).toBeUndefined();
    expect(explain(decision)).toContain(
      "Waited 60s, one of 3: priority 0, tenant oslo with a share of 0. Passed over: 1 (Capacity).",
    );
    const { queue: record } = decision;
    if (record === undefined) throw new Error("expected a record");
    const next = record.next.map(({ id, priority }) => ({ id, priority, ...place }));
    expect(replayQueue({ ...decision, queue: { ...record, next } })).toBe(
      "rsv-oslo-large comes first and was not passed over",
    );
  });
});
