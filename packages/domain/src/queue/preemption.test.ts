import { describe, expect, test } from "vitest";
import { cluster, priced, size } from "../testing/builders.ts";
import { ADMIN, actor, HOUR_MS, MINUTE_MS, type World } from "../testing/world.ts";
import type { Tenant } from "../scheduling/policy.ts";
import { chargeFor, utcDay } from "./charges.ts";
import { committedOn } from "./closed-days.ts";
import { type Ask, admit, hold, openMarket, pass, queue, underNotice } from "./testing/queue-world.ts";

const LONG_MS = 15 * MINUTE_MS;

/** rome holds 8 CPU of the spot tier since a quarter of an hour, and bern 8 CPU for good. */
function sharedMarket(preemption: Parameters<typeof openMarket>[0] = {}): World {
  const world = openMarket(preemption);
  hold(world, "rome", "spot", { cpu: 8, tier: "spot" });
  hold(world, "bern", "old", { cpu: 8, priority: 99 });
  pass(world, LONG_MS);
  return world;
}

test("by default nobody gets notice", () => {
  const world = sharedMarket({ victims: "none" });
  queue(world, "oslo", "urgent", { cpu: 8, priority: 50 });
  admit(world);
  expect(underNotice(world)).toEqual([]);
  expect(world.ledger.waiting.byId.get("rsv-oslo-urgent")?.nominated).toBeUndefined();
});

test("spot gives way: its agents are told who needs it, and the request is nominated there", () => {
  const world = sharedMarket();
  queue(world, "oslo", "urgent", { cpu: 8, priority: 5 });
  admit(world);
  expect(world.reservation("rsv-rome-spot")).toMatchObject({
    preemption: { by: "rsv-oslo-urgent", priority: 5, at: world.now + 5 * MINUTE_MS },
    phase: "Reserved",
    generation: 2,
  });
  expect(world.ledger.waiting.byId.get("rsv-oslo-urgent")).toMatchObject({
    nominated: { provider: "paris", victims: ["rsv-rome-spot"] },
    generation: 2,
  });
});

test("a reservation under notice cannot be renewed, and is told why", () => {
  const world = openMarket();
  hold(world, "rome", "spot", { cpu: 16, tier: "spot", durationMs: 60 * MINUTE_MS });
  pass(world, LONG_MS);
  queue(world, "oslo", "urgent", { cpu: 8, priority: 5 });
  admit(world);
  const renew = {
    kind: "renew",
    by: actor("rome"),
    id: "rsv-rome-spot",
    durationMs: 90 * MINUTE_MS,
  } as const;
  expect(world.reply(renew)).toMatchObject({
    kind: "rejected",
    code: "forbidden",
    message: expect.stringContaining("under notice and cannot be renewed: it ends at 2026-01-05T12:20:00"),
  });
});

interface Pairing {
  readonly name: string;
  readonly victim: Ask;
  readonly by: Ask;
  readonly victims?: "spot" | "lower-priority";
  readonly isVictim: boolean;
}

const RANKS: readonly Pairing[] = [
  { name: "a priority lower by the gap", victim: { priority: 10 }, by: { priority: 20 }, isVictim: true },
  { name: "one lower by less", victim: { priority: 11 }, by: { priority: 20 }, isVictim: false },
  { name: "spot of a higher priority", victim: { priority: 30, tier: "spot" }, by: {}, isVictim: true },
  { name: "spot, for another spot", victim: { tier: "spot" }, by: { tier: "spot" }, isVictim: false },
  {
    name: "a lower priority where only spot gives way",
    victim: {},
    by: { priority: 90 },
    victims: "spot",
    isVictim: false,
  },
];

test.each(RANKS)("$name gives way: $isVictim", ({ victim, by, victims = "lower-priority", isVictim }) => {
  const world = openMarket({ victims });
  hold(world, "rome", "held", victim);
  pass(world, LONG_MS);
  queue(world, "oslo", "asks", by);
  admit(world);
  expect(underNotice(world)).toEqual(isVictim ? ["rsv-rome-held"] : []);
});

describe("who is never a victim", () => {
  const spared: readonly { name: string; arrange: (world: World) => void }[] = [
    {
      name: "a reservation that has run for less than ten minutes",
      arrange: (world) => {
        hold(world, "rome", "held", { tier: "spot" });
        pass(world, 10 * MINUTE_MS - 1);
      },
    },
    {
      name: "one whose requester does not know of notices",
      arrange: (world) => {
        world.advertise(cluster("bern", { cpu: 0, memoryGi: 0, more: { protocol: 2 } }));
        hold(world, "bern", "held", { tier: "spot" });
        pass(world, LONG_MS);
      },
    },
    {
      name: "one whose provider cannot be told",
      arrange: (world) => {
        world.advertise(cluster("paris", { more: { protocol: 1 } }));
        hold(world, "rome", "held", { tier: "spot" });
        pass(world, LONG_MS);
      },
    },
    {
      name: "one that was adopted",
      arrange: (world) => {
        world.run({ kind: "open-adoption", by: ADMIN, durationMs: LONG_MS });
        const offer = {
          id: "rsv-rome-held",
          requester: "rome",
          provider: "paris",
          granted: size({ cpu: 16, memoryGi: 1 }),
          phase: "Active",
          generation: 1,
          createdAt: world.now - 1,
        } as const;
        world.run({ kind: "adopt", by: ADMIN, offer });
        pass(world, LONG_MS);
      },
    },
  ];
  test.each(spared)("$name", ({ arrange }) => {
    const world = openMarket();
    arrange(world);
    expect(world.ledger.reservations.size).toBe(1);
    queue(world, "oslo", "urgent", { priority: 90 });
    admit(world);
    expect(underNotice(world)).toEqual([]);
  });
});

test("the lowest priority gives way first, and of equals the youngest", () => {
  const world = openMarket();
  for (const [key, priority] of [
    ["higher", 1],
    ["old", 0],
    ["young", 0],
  ] as const) {
    hold(world, "rome", key, { cpu: 4, priority });
    world.now += 1000;
  }
  hold(world, "bern", "rest", { cpu: 4 });
  pass(world, LONG_MS);
  queue(world, "oslo", "urgent", { cpu: 8, priority: 90 });
  admit(world);
  expect(underNotice(world)).toEqual(["rsv-rome-old", "rsv-rome-young"]);
});

test("who is not needed in the end is given back, the most important first", () => {
  const world = openMarket();
  hold(world, "rome", "small", { cpu: 2, priority: 0 });
  hold(world, "rome", "large", { cpu: 8, priority: 1 });
  hold(world, "bern", "rest", { cpu: 6 });
  pass(world, LONG_MS);
  queue(world, "oslo", "urgent", { cpu: 8, priority: 90 });
  admit(world);
  expect(underNotice(world)).toEqual(["rsv-rome-large"]);
});

describe("the provider", () => {
  /** Beside paris, berlin lends 16 CPU. Everything is held by rome, in these pieces. */
  function twoProviders(paris: readonly Piece[], berlin: readonly Piece[]): World {
    const world = openMarket();
    paris.forEach((piece, index) => hold(world, "rome", `paris-${index}`, piece));
    world.advertise(cluster("berlin"));
    berlin.forEach((piece, index) => hold(world, "rome", `berlin-${index}`, piece));
    pass(world, LONG_MS);
    return world;
  }
  interface Piece {
    readonly cpu: number;
    readonly priority?: number;
  }
  const choices: readonly { name: string; paris: Piece[]; berlin: Piece[]; asks: number; is: string }[] = [
    {
      name: "whose most important victim is the least important",
      paris: [{ cpu: 16, priority: 2 }],
      berlin: [
        { cpu: 8, priority: 1 },
        { cpu: 8, priority: 1 },
      ],
      asks: 16,
      is: "berlin",
    },
    {
      name: "with the fewest victims",
      paris: [{ cpu: 16 }],
      berlin: [{ cpu: 8 }, { cpu: 8 }],
      asks: 16,
      is: "paris",
    },
    {
      name: "with the smallest victims",
      paris: [{ cpu: 16 }],
      berlin: [{ cpu: 4 }, { cpu: 12, priority: 9 }],
      asks: 4,
      is: "berlin",
    },
    { name: "of equals by its name", paris: [{ cpu: 16 }], berlin: [{ cpu: 16 }], asks: 16, is: "berlin" },
  ];
  test.each(choices)("is the one $name", ({ paris, berlin, asks, is }) => {
    const world = twoProviders(paris, berlin);
    queue(world, "oslo", "urgent", { cpu: asks, priority: 50 });
    admit(world);
    expect(world.ledger.waiting.byId.get("rsv-oslo-urgent")?.nominated?.provider).toBe(is);
  });

  test("is none that has promised more than it has", () => {
    const world = sharedMarket();
    world.advertise(cluster("paris", { cpu: 15 }));
    queue(world, "oslo", "urgent", { cpu: 4, priority: 50 });
    admit(world);
    expect(underNotice(world)).toEqual([]);
  });

  test("is none that still waits for pods of ended reservations", () => {
    const world = sharedMarket();
    world.run({ kind: "release", by: actor("bern"), id: "rsv-bern-old" });
    const usage = [{ id: "rsv-bern-old", granted: { cpu: 8 }, used: { cpu: 6 } }];
    world.advertise(cluster("paris", { usage }));
    // More than the pods give back: without the victim it would not start.
    queue(world, "oslo", "urgent", { cpu: 10, priority: 50 });
    admit(world);
    expect(underNotice(world)).toEqual([]);
  });

  test("is none whose own pods take what the victims would give back", () => {
    const world = openMarket();
    hold(world, "rome", "spot", { cpu: 4, tier: "spot" });
    // Its own pods take all: of the 4 CPU of the victim nothing would be free.
    world.advertise(cluster("paris", { cpu: 8, allocated: { cpu: 8 } }));
    pass(world, LONG_MS);
    queue(world, "oslo", "urgent", { cpu: 4, priority: 50 });
    admit(world);
    expect(underNotice(world)).toEqual([]);
  });

  test("gives back what the pods of a victim use, if that is more than was granted", () => {
    const world = openMarket();
    hold(world, "rome", "spot", { cpu: 4, tier: "spot" });
    const usage = [{ id: "rsv-rome-spot", granted: { cpu: 4 }, used: { cpu: 14 } }];
    world.advertise(cluster("paris", { usage }));
    pass(world, LONG_MS);
    queue(world, "oslo", "urgent", { cpu: 16, priority: 50 });
    admit(world);
    expect(underNotice(world)).toEqual(["rsv-rome-spot"]);
  });
});

describe("limits", () => {
  test("of all reservations a twentieth may be under notice, and at least one", () => {
    const world = openMarket({ maxUnderNotice: 0.05 });
    for (const key of ["a", "b"]) hold(world, "rome", key, { cpu: 8, tier: "spot" });
    pass(world, LONG_MS);
    queue(world, "oslo", "both", { cpu: 16 });
    admit(world);
    expect(underNotice(world)).toEqual([]);
    queue(world, "oslo", "one", { cpu: 8 });
    pass(world, MINUTE_MS);
    admit(world);
    expect(underNotice(world)).toHaveLength(1);
  });

  test("for one request victims are sought once in 30 seconds", () => {
    const world = sharedMarket({ minRunMs: 20 * MINUTE_MS });
    queue(world, "oslo", "urgent", { cpu: 8, priority: 50 });
    pass(world, 5 * MINUTE_MS - 1000);
    admit(world);
    world.now += 29_000;
    admit(world);
    expect(underNotice(world)).toEqual([]);
    world.now += 1000;
    admit(world);
    expect(underNotice(world)).toEqual(["rsv-rome-spot"]);
  });

  test("a request causes notices at most twice, half an hour apart", () => {
    const world = sharedMarket();
    queue(world, "oslo", "urgent", { cpu: 8, priority: 50, forMs: 300 * MINUTE_MS });
    const noticesAfter: number[] = [];
    const start = world.now;
    for (let minute = 0; minute < 120; minute++) {
      admit(world);
      if (underNotice(world).length > 0) {
        noticesAfter.push((world.now - start) / MINUTE_MS);
        // An admin cordons the provider: the nomination lapses, and the victim is reprieved.
        world.run({ kind: "cordon", by: ADMIN, clusterId: "paris" });
        admit(world);
        expect(underNotice(world)).toEqual([]);
        world.run({ kind: "uncordon", by: ADMIN, clusterId: "paris" });
      }
      pass(world, MINUTE_MS);
    }
    expect(noticesAfter).toEqual([0, 30]);
  });

  test("who would start as early anyway gives nobody notice", () => {
    const world = openMarket();
    hold(world, "rome", "spot", { cpu: 8, tier: "spot" });
    hold(world, "bern", "short", { cpu: 8, durationMs: LONG_MS + 5 * MINUTE_MS });
    pass(world, LONG_MS);
    queue(world, "oslo", "urgent", { cpu: 8, priority: 50 });
    admit(world);
    expect(underNotice(world)).toEqual([]);
    expect(world.ledger.plans.get("rsv-oslo-urgent")?.from).toBe(world.now + 10 * MINUTE_MS);
  });

  test("rank alone preempts nobody: a tenant with less waits for those of its own priority", () => {
    const world = openMarket();
    hold(world, "rome", "all", { cpu: 16, priority: 50 });
    pass(world, LONG_MS);
    queue(world, "oslo", "waits", { cpu: 16, priority: 50 });
    admit(world);
    expect(underNotice(world)).toEqual([]);
  });
});

describe("a tenant that may hold or spend only so much", () => {
  const EUR = 1_000_000;
  const PRICED = { cost: priced(1, { onDemand: { cpuHour: 1, memoryGbHour: 0 } }) };

  function setRules(world: World, rules: Partial<Tenant>): void {
    const of = (cluster: string): Tenant => ({ members: [{ cluster }], weight: 1, quota: {}, ...rules });
    world.policy = { ...world.policy, tenants: { ml: of("oslo"), web: of("rome") } };
  }

  /** A CPU of paris costs 1 EUR an hour. oslo needs 8 for an hour, which the spot reservation of rome holds. */
  function asking(rules: Partial<Tenant>): World {
    const world = sharedMarket();
    setRules(world, rules);
    world.advertise(cluster("paris", { more: PRICED }));
    queue(world, "oslo", "urgent", { cpu: 8, priority: 50, durationMs: HOUR_MS, forMs: 10 * HOUR_MS });
    admit(world);
    return world;
  }

  const rules: readonly { name: string; rules: Partial<Tenant>; isVictim: boolean }[] = [
    { name: "what its budget allows", rules: { budget: { perDay: 8 * EUR } }, isVictim: true },
    { name: "more than its budget allows", rules: { budget: { perDay: 8 * EUR - 1 } }, isVictim: false },
    { name: "what its quota allows", rules: { quota: { cpuMillis: 8000 } }, isVictim: true },
    { name: "more than its quota allows", rules: { quota: { cpuMillis: 7999 } }, isVictim: false },
  ];
  test.each(rules)("causes notices for $name: $isVictim", ({ rules, isVictim }) => {
    expect(underNotice(asking(rules))).toEqual(isVictim ? ["rsv-rome-spot"] : []);
  });

  test("causes none at a provider without a price, if it has a budget", () => {
    const world = asking({ quota: { cpuMillis: 0 } });
    world.advertise(cluster("paris"));
    setRules(world, { budget: { perDay: 1000 * EUR } });
    pass(world, MINUTE_MS);
    admit(world);
    expect(underNotice(world)).toEqual([]);
    world.advertise(cluster("paris", { more: PRICED }));
    pass(world, MINUTE_MS);
    admit(world);
    expect(underNotice(world)).toEqual(["rsv-rome-spot"]);
  });

  /** Meanwhile oslo spends 3 EUR elsewhere. */
  function spent(): World {
    const world = asking({ budget: { perDay: 10 * EUR } });
    world.advertise(cluster("berlin", { cpu: 3, more: PRICED }));
    admit(world);
    hold(world, "oslo", "small", { cpu: 3, durationMs: HOUR_MS });
    expect(underNotice(world)).toEqual(["rsv-rome-spot"]);
    return world;
  }

  test("ends nobody if it has spent its budget by the deadline", () => {
    const world = spent();
    pass(world, 5 * MINUTE_MS);
    expect(world.reservation("rsv-rome-spot")).toMatchObject({ phase: "Reserved" });
    expect(underNotice(world)).toEqual([]);
  });

  test("gives its victims back at the next look if it has spent its budget", () => {
    const world = spent();
    admit(world);
    expect(underNotice(world)).toEqual([]);
    expect(world.ledger.waiting.byId.get("rsv-oslo-urgent")?.nominated).toBeUndefined();
  });

  test("is charged for what it had before it was preempted", () => {
    const world = openMarket();
    setRules(world, { budget: { perDay: 1000 * EUR } });
    world.advertise(cluster("paris", { more: PRICED }));
    const { cost } = hold(world, "rome", "spot", { cpu: 8, tier: "spot", durationMs: 4 * HOUR_MS });
    pass(world, LONG_MS);
    queue(world, "oslo", "urgent", { cpu: 16, priority: 50 });
    admit(world);
    pass(world, 5 * MINUTE_MS);
    expect(world.reservation("rsv-rome-spot").reason).toBe("Preempted");
    const today = { day: utcDay(world.now), now: world.now };
    expect(BigInt(committedOn(world.ledger, "web", today))).toBe(
      chargeFor(cost?.perHour ?? 0, LONG_MS + 5 * MINUTE_MS),
    );
  });
});
