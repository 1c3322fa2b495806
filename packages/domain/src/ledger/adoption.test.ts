import { describe, expect, test } from "vitest";
import { MAX_RESERVATIONS_PER_PROVIDER } from "../advertisement/advertisement.ts";
import type { Policy } from "../scheduling/policy.ts";
import { cluster, request, size } from "../testing/builders.ts";
import type { Actor } from "./command.ts";
import { ADMIN, actor, HOUR_MS, MINUTE_MS, openWorld, type World } from "../testing/world.ts";
import { type AdoptionOffer, initialAdoptionWindow, isAdoptionOpen } from "./adoption-window.ts";

const DAY_MS = 24 * HOUR_MS;

describe("adoption by a broker that lost its memory", () => {
  const offer: AdoptionOffer = {
    id: "rsv-rome-lost",
    requester: "rome",
    provider: "paris",
    granted: size({ cpu: 4, memoryGi: 8 }),
    phase: "Active",
    generation: 3,
    createdAt: 1,
    key: "k",
  };
  const holding = cluster("paris", {
    usage: [{ id: offer.id, granted: { cpu: 4, memoryGi: 8 }, used: { cpu: 1 } }],
  });

  const adopt = (world: World, by: Actor, more: Partial<AdoptionOffer> = {}) =>
    world.reply({ kind: "adopt", by, offer: { ...offer, ...more } });

  /** A ledger that was just made, and a provider that reports what it holds. */
  function lostWorld(policy: Partial<Policy> = {}): World {
    const world = openWorld(policy);
    world.ledger.adoption = initialAdoptionWindow(world.now, "created");
    world.advertise(holding);
    return world;
  }

  test("is refused by a provider that has as many as it can list, unless it lists this one", () => {
    const usage = Array.from({ length: MAX_RESERVATIONS_PER_PROVIDER }, (_, index) => ({
      id: index === 0 ? offer.id : `rsv-oslo-${index}`,
      granted: {},
      used: {},
    }));
    const world = lostWorld();
    world.advertise(cluster("paris", { usage }));
    const other = { ...offer, id: "rsv-rome-other", key: "other" };
    expect(world.reply({ kind: "adopt", by: ADMIN, offer: other })).toMatchObject({
      code: "quota-exceeded",
      message: "paris has 1000 reservations; the maximum is 1000",
    });
    expect(adopt(world, ADMIN)).toMatchObject({ kind: "current" });
  });

  test("needs both parties to say the same", () => {
    const world = lostWorld();
    const before = world.account("paris").available;
    expect(adopt(world, actor("rome"))).toEqual({ kind: "adoption-offered", waitsFor: "other-party" });
    const { key: _, ...providersWord } = { ...offer, phase: "Reserved" as const, generation: 4 };
    const reply = world.reply({ kind: "adopt", by: actor("paris"), offer: providersWord });
    expect(reply).toMatchObject({
      kind: "current",
      reservation: { id: offer.id, phase: "Active", key: "k", generation: 5 },
    });
    expect(world.account("paris").available).toEqual(before);
    expect(world.reserve("rome", request(), "k")).toMatchObject({ kind: "current", isReplay: true });
  });

  test("is disputed when the amounts differ, until an admin decides", () => {
    const world = lostWorld();
    world.run({ kind: "adopt", by: actor("rome"), offer: { ...offer, granted: size({ cpu: 40 }) } });
    expect(adopt(world, actor("paris"))).toEqual({ kind: "adoption-offered", waitsFor: "admin" });
    expect(world.ledger.reservations.size).toBe(0);
    adopt(world, ADMIN);
    expect(world.reservation(offer.id).granted).toEqual(offer.granted);
  });

  const wrong = [
    { name: "another requester's id", more: { id: "rsv-oslo-lost" }, code: "invalid" },
    { name: "an id with a line break", more: { id: "rsv-rome-a\nb" }, code: "invalid" },
    { name: "nothing held", more: { granted: size({}) }, code: "invalid" },
    { name: "a negative hold", more: { granted: size({ cpu: -1 }) }, code: "invalid" },
    { name: "a hold that is not a number", more: { granted: size({ cpu: Number.NaN }) }, code: "invalid" },
    { name: "a generation without end", more: { generation: Number.MAX_SAFE_INTEGER }, code: "invalid" },
    { name: "an expiry that is no time", more: { expiresAt: Number.NaN }, code: "already-ended" },
    { name: "lending to itself", more: { provider: "rome" }, code: "invalid" },
  ];
  test.each(wrong)("refuses $name", ({ more, code }) => {
    const world = lostWorld();
    expect(adopt(world, ADMIN, more)).toMatchObject({ code });
  });

  test("refuses holds whose sum could not be counted", () => {
    const world = lostWorld();
    const huge = { cpu: Number.MAX_SAFE_INTEGER / 1000 };
    world.advertise(cluster("paris", { usage: [{ id: "rsv-rome-huge", granted: huge, used: {} }] }));
    const second = { ...offer, id: "rsv-rome-more", key: "k2" };
    expect(world.reply({ kind: "adopt", by: ADMIN, offer: second })).toMatchObject({ code: "invalid" });
  });

  test("never brings back what its owner released", () => {
    const world = lostWorld();
    adopt(world, actor("rome"));
    world.run({ kind: "release-by-key", requester: "rome", key: "k" });
    const { key: _, ...providersWord } = offer;
    world.run({ kind: "adopt", by: actor("paris"), offer: providersWord });
    expect(world.ledger.reservations.size).toBe(0);
    expect(adopt(world, actor("rome"))).toMatchObject({ code: "key-released" });
  });

  test("never takes a key from the reservation it belongs to", () => {
    const world = lostWorld();
    world.advertise(cluster("paris"));
    const { id } = world.grant("rome", request(), "k");
    expect(adopt(world, ADMIN)).toMatchObject({ code: "ledger-conflict" });
    expect(world.reply({ kind: "release-by-key", requester: "rome", key: "k" })).toMatchObject({
      reservation: { id },
    });
  });

  test("takes the earlier expiry and keeps to the longest time allowed", () => {
    const world = lostWorld({ maxTtlMs: HOUR_MS });
    adopt(world, actor("rome"));
    const reply = world.reply({
      kind: "adopt",
      by: actor("paris"),
      offer: { ...offer, expiresAt: world.now + MINUTE_MS },
    });
    expect(reply).toMatchObject({ reservation: { expiresAt: world.now + MINUTE_MS, acknowledged: true } });
    const byAdmin = { ...offer, id: "rsv-rome-open", key: "k2" };
    expect(world.reply({ kind: "adopt", by: ADMIN, offer: byAdmin })).toMatchObject({
      reservation: { expiresAt: world.now + HOUR_MS, acknowledged: false },
    });
  });

  test("is not for strangers, not for the expired, and harmless for what is known", () => {
    const world = lostWorld();
    expect(adopt(world, actor("tokyo"))).toMatchObject({ code: "forbidden" });
    expect(adopt(world, ADMIN, { expiresAt: world.now })).toMatchObject({ code: "already-ended" });
    adopt(world, ADMIN);
    expect(world.run({ kind: "adopt", by: actor("rome"), offer }).events).toEqual([]);
    expect(adopt(world, actor("rome"), { provider: "berlin" })).toMatchObject({ code: "ledger-conflict" });
  });

  test("forgets an offer that nobody confirms within the hour", () => {
    const world = lostWorld();
    adopt(world, actor("rome"));
    world.pass(HOUR_MS);
    expect(world.ledger.offers.size).toBe(0);
    expect(world.ledger.deadlines.earliest).toBeUndefined();
    expect(adopt(world, actor("paris"))).toEqual({ kind: "adoption-offered", waitsFor: "other-party" });
  });

  const closed = [
    { name: "when the ledger knows of no time it has forgotten", window: undefined },
    {
      name: "a day after its memory began",
      window: (now: number) => initialAdoptionWindow(now - DAY_MS, "created"),
    },
    {
      name: "once an admin closed it",
      window: (now: number) => ({ since: now, until: now, cause: "closed" as const }),
    },
  ];
  test.each(closed)("is closed $name, also to an admin, and says how to open it", ({ window }) => {
    const world = lostWorld();
    world.ledger.adoption = window?.(world.now);
    for (const by of [actor("rome"), actor("paris"), ADMIN]) {
      expect(adopt(world, by)).toMatchObject({
        code: "forbidden",
        message: expect.stringContaining("brokerctl adoption open --for 1h"),
      });
    }
    expect(world.ledger.offers.size).toBe(0);
    expect(world.ledger.reservations.size).toBe(0);
  });

  test("is for holds from before the ledger's memory began", () => {
    const world = lostWorld();
    const { now } = world;
    world.now += HOUR_MS;
    expect(adopt(world, ADMIN, { createdAt: now })).toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("only older reservations are adopted"),
    });
    expect(adopt(world, ADMIN, { createdAt: now - 1 }).kind).toBe("current");
  });

  test("obeys quota and lending rules as a grant does", () => {
    const byQuota = lostWorld({ quotas: { rome: { cpuMillis: 3000 } } });
    expect(adopt(byQuota, actor("paris"))).toMatchObject({ code: "quota-exceeded" });
    const byRule = lostWorld({ lending: { default: { deny: ["rome"] }, clusters: {} } });
    expect(adopt(byRule, actor("rome"))).toMatchObject({
      code: "forbidden",
      message: "paris does not lend to rome (lending policy)",
    });
  });

  test("counts against the quota afterwards, and is renewed only as the policy allows", () => {
    const world = lostWorld({ quotas: { rome: { cpuMillis: 6000 } }, maxTtlMs: HOUR_MS });
    adopt(world, ADMIN);
    expect(world.reserve("rome", request({ cpu: 3 }))).toMatchObject({ code: "quota-exceeded" });
    const renewal = { kind: "renew", by: actor("rome"), id: offer.id, durationMs: 2 * HOUR_MS } as const;
    expect(world.reply(renewal)).toMatchObject({ code: "ttl-too-long" });
  });

  test("never makes a provider lend more than it has, though both parties agree", () => {
    const world = lostWorld();
    const huge = { ...offer, id: "rsv-rome-huge", key: "k2", granted: size({ cpu: 9000, memoryGi: 1 }) };
    world.run({ kind: "adopt", by: actor("rome"), offer: huge });
    for (const by of [actor("paris"), ADMIN]) {
      expect(world.reply({ kind: "adopt", by, offer: huge })).toMatchObject({
        code: "ledger-conflict",
        message: "paris lacks 8988 CPU for rsv-rome-huge, and does not report it as held",
      });
    }
  });

  test("of what a provider holds beyond what it has left adds nothing, and it is shown as overcommitted", () => {
    const world = lostWorld();
    world.advertise(
      cluster("paris", { cpu: 2, usage: [{ id: offer.id, granted: { cpu: 4, memoryGi: 8 }, used: {} }] }),
    );
    const before = world.account("paris").overcommitted;
    expect(before.cpuMillis).toBe(2000);
    adopt(world, ADMIN);
    expect(world.account("paris").overcommitted).toEqual(before);
    const more = { ...offer, id: "rsv-rome-more", key: "k2", granted: size({ cpu: 1 }) };
    expect(world.reply({ kind: "adopt", by: ADMIN, offer: more })).toMatchObject({ code: "ledger-conflict" });
  });

  test("waits for the provider's first advertisement: before it, what it can hold is unknown", () => {
    const world = openWorld();
    world.ledger.adoption = initialAdoptionWindow(world.now, "restored");
    adopt(world, actor("rome"));
    const byParis = { kind: "adopt", by: actor("paris"), offer } as const;
    expect(world.reply(byParis)).toEqual({ kind: "adoption-offered", waitsFor: "advertisement" });
    expect(adopt(world, ADMIN)).toMatchObject({ code: "not-yet" });
    world.advertise(holding);
    expect(world.reply(byParis).kind).toBe("current");
  });

  test("is opened and closed by an admin alone, and for a week at most", () => {
    const world = openWorld();
    world.advertise(holding);
    const open = { kind: "open-adoption", by: ADMIN, durationMs: HOUR_MS } as const;
    expect(world.reply({ ...open, by: actor("rome") })).toMatchObject({ code: "forbidden" });
    for (const durationMs of [0, -1, Number.NaN, 7 * DAY_MS + 1])
      expect(world.reply({ ...open, durationMs })).toMatchObject({ code: "invalid" });
    expect(world.reply(open)).toEqual({
      kind: "adoption-window-set",
      window: { since: world.now, until: world.now + HOUR_MS, cause: "opened", by: "ops" },
    });
    expect(isAdoptionOpen(world.ledger, world.now)).toBe(true);
    const close = { kind: "close-adoption", by: ADMIN } as const;
    expect(world.reply({ ...close, by: actor("rome") })).toMatchObject({ code: "forbidden" });
    world.run(close);
    expect(isAdoptionOpen(world.ledger, world.now)).toBe(false);
    expect(world.run(close).events).toEqual([]);
  });
});
