import { describe, expect, test } from "vitest";
import { cluster, request, size } from "../testing/builders.ts";
import { accept, bind, enroll, evict, identityKey, invite, secretHash } from "../testing/member-commands.ts";
import { actor, HOUR_MS, openWorld, type World } from "../testing/world.ts";
import { initialAdoptionWindow } from "./adoption-window.ts";
import type { Command } from "./command.ts";
import { MAX_MEMBERS, memberState } from "./member.ts";

function worldAfter(...commands: readonly Command[]): World {
  const world = openWorld();
  for (const command of commands) expect(world.reply(command)).not.toMatchObject({ kind: "rejected" });
  return world;
}

function stateOf({ ledger, now }: World, clusterId = "rome"): string | undefined {
  const member = ledger.members.get(clusterId);
  return member && memberState(member, now);
}

const CONFIRM = invite({ needsConfirmation: true });

describe("an invitation", () => {
  test("is used by one key, which is bound from then on, and may ask again", () => {
    const world = worldAfter(invite());
    expect(stateOf(world)).toBe("invited");
    for (let times = 0; times < 2; times++)
      expect(world.reply(enroll())).toEqual({ kind: "enrolled", clusterId: "rome", isConfirmed: true });
    expect(stateOf(world)).toBe("joined");
    expect(world.ledger.members.get("rome")).toMatchObject({ key: identityKey("A") });
  });

  test.each([
    ["an unknown token", enroll({ tokenId: "token00009" })],
    ["a wrong secret", enroll({ secretHash: secretHash("b") })],
  ])("tells nothing about itself to %s", (_, command) => {
    expect(worldAfter(invite()).reply(command)).toEqual({
      kind: "rejected",
      code: "no-certificate",
      message: "the token is unknown or wrong; an admin makes a new one: brokerctl invite rome",
    });
  });

  test.each([
    ["another cluster", enroll({ clusterId: "oslo" }), "no-certificate", /invites rome, not oslo/],
    ["another key", enroll({ key: identityKey("B") }), "wrong-instance", /used by another agent.*--replace/],
  ])("does not serve %s", (_, command, code, message) => {
    const world = worldAfter(invite(), enroll());
    expect(world.run(command)).toMatchObject({
      events: [],
      reply: { code, message: expect.stringMatching(message) as string },
    });
  });

  test("expires, also for the key that used it", () => {
    const world = worldAfter(invite(), enroll());
    world.pass(HOUR_MS);
    expect(world.reply(enroll())).toMatchObject({
      code: "no-certificate",
      message: "the token has expired; an admin makes a new one: brokerctl invite rome",
    });
    const unused = worldAfter(invite());
    unused.pass(HOUR_MS);
    expect(unused.reply(enroll())).toMatchObject({ code: "no-certificate" });
    expect(stateOf(unused)).toBe("expired");
  });

  test("that was not used gives way to the next one", () => {
    const world = worldAfter(invite(), invite({ tokenId: "token00002" }));
    expect(world.reply(enroll())).toMatchObject({ code: "no-certificate" });
    expect(world.reply(enroll({ tokenId: "token00002" }))).toMatchObject({ isConfirmed: true });
  });

  test.each([
    ["whose key is bound", [bind("A")]],
    ["that has advertised", [{ kind: "advertise", advertisement: cluster("rome") }]],
  ] as const)("of a cluster %s must replace it", (_, commands) => {
    const world = worldAfter(...commands);
    expect(world.reply(invite())).toMatchObject({
      code: "ledger-conflict",
      message: expect.stringContaining("brokerctl invite rome --replace") as string,
    });
    const { events } = world.run(invite({ isReplacing: true }));
    expect(events.map(({ kind }) => kind)).toEqual(["member-evicted", "member-invited"]);
    expect(world.reply(bind("A"))).toMatchObject({ code: "wrong-instance" });
    expect(world.reply(enroll({ key: identityKey("B") }))).toMatchObject({ isConfirmed: true });
    expect(world.reply(bind("B"))).toMatchObject({ kind: "member-set" });
    world.advertise(cluster("rome"));
    expect(world.account("rome").receivedAt).toBe(world.now);
  });

  test.each([
    ["by a cluster", invite({ by: actor("rome") }), "forbidden"],
    ["for no time", invite({ tokenId: "token00002", lifetimeMs: 0 }), "invalid"],
    ["for more than a week", invite({ tokenId: "token00002", lifetimeMs: 168 * HOUR_MS + 1 }), "invalid"],
    ["with the token of another", invite({ clusterId: "oslo" }), "ledger-conflict"],
    ["with a used token ID", invite({ secretHash: secretHash("b") }), "ledger-conflict"],
  ])("%s is refused", (_, command, code) => {
    expect(worldAfter(invite()).run(command)).toMatchObject({ events: [], reply: { code } });
  });

  test("beyond the most members is refused, and one of a known member is not", () => {
    const world = openWorld();
    for (let index = 0; index < MAX_MEMBERS; index++)
      world.ledger.members.set(`c${index}`, { clusterId: `c${index}`, evictedAt: 1, since: 1 });
    expect(world.reply(invite())).toMatchObject({ code: "quota-exceeded" });
    expect(world.reply(bind("A"))).toMatchObject({ code: "quota-exceeded" });
    expect(world.reply(invite({ clusterId: "c0" }))).toMatchObject({ kind: "member-set" });
  });
});

describe("an agent that an admin must confirm", () => {
  test("waits as long as it takes, and has an hour to fetch its certificate then", () => {
    const world = worldAfter(CONFIRM, enroll());
    world.pass(2 * HOUR_MS);
    expect(world.reply(enroll())).toMatchObject({ kind: "enrolled", isConfirmed: false });
    expect(stateOf(world)).toBe("unconfirmed");
    expect(world.reply(bind("A"))).toMatchObject({ code: "wrong-instance" });
    expect(world.reply(accept("A"))).toMatchObject({ member: { key: identityKey("A") } });
    world.pass(HOUR_MS - 1);
    expect(world.reply(enroll())).toMatchObject({ isConfirmed: true });
    world.pass(1);
    expect(world.reply(enroll())).toMatchObject({ code: "no-certificate" });
  });

  test.each([
    ["nobody waits", [CONFIRM], accept("A"), "not-found"],
    ["another key waits", [CONFIRM, enroll()], accept("B"), "wrong-instance"],
    ["it was evicted", [CONFIRM, enroll(), evict()], accept("A"), "not-found"],
    ["a cluster says so", [CONFIRM, enroll()], { ...accept("A"), by: actor("rome") }, "forbidden"],
  ] as const)("is not accepted when %s", (_, before, command, code) => {
    expect(worldAfter(...before).run(command)).toMatchObject({ events: [], reply: { code } });
  });
});

describe("an evicted cluster", () => {
  const joined = (): World => {
    const world = worldAfter(invite(), enroll());
    world.ledger.adoption = initialAdoptionWindow(world.now, "created");
    world.advertise(cluster("paris"), cluster("rome"));
    return world;
  };

  test("may not advertise, reserve, renew, adopt, or bind a key", () => {
    const world = joined();
    const { id } = world.grant("rome", request({}, { durationMs: HOUR_MS }), "key");
    world.run(evict("rome", "its machines were sold"));
    expect(stateOf(world)).toBe("evicted");
    expect(world.ledger.members.get("rome")).not.toHaveProperty("key");
    const offer = {
      id: "rsv-rome-lost",
      requester: "rome",
      provider: "paris",
      granted: size({ cpu: 1 }),
      phase: "Active",
      generation: 1,
      createdAt: 1,
    } as const;
    const calls: Command[] = [
      { kind: "advertise", advertisement: cluster("rome") },
      { kind: "renew", by: actor("rome"), id, durationMs: 2 * HOUR_MS },
      { kind: "adopt", by: actor("rome"), offer },
      { kind: "adopt", by: actor("paris"), offer },
      bind("A"),
    ];
    for (const call of calls)
      expect(world.run(call)).toMatchObject({ events: [], reply: { code: "wrong-instance" } });
    for (const key of ["key", "new"])
      expect(world.reserve("rome", request(), key)).toMatchObject({
        code: "wrong-instance",
        message: "rome was evicted; an admin invites it, and its agent joins anew: brokerctl invite rome",
      });
    expect(world.reply(enroll())).toMatchObject({ code: "no-certificate" });
    expect(world.reply({ kind: "release", by: actor("rome"), id })).toMatchObject({ kind: "current" });
  });

  test("lends nothing any more, and lends again when it has joined again", () => {
    const world = joined();
    world.run(evict("paris"));
    expect(world.refusal("rome", request()).candidates[0]).toMatchObject({
      clusterId: "paris",
      outcome: { refusal: { message: "was evicted" } },
    });
    world.run(invite({ clusterId: "paris", tokenId: "token00002" }));
    world.refusal("rome", request());
    world.run(enroll({ clusterId: "paris", tokenId: "token00002" }));
    world.grant("rome", request());
  });

  test("must be known, and evicted by an admin", () => {
    expect(openWorld().reply(evict())).toMatchObject({ code: "not-found" });
    expect(joined().reply({ ...evict(), by: actor("rome") })).toMatchObject({ code: "forbidden" });
  });
});

test("the first key that a cluster shows is bound: another is refused", () => {
  const world = worldAfter(bind("A"));
  expect(world.run(bind("B"))).toMatchObject({ events: [], reply: { code: "wrong-instance" } });
  expect(stateOf(world)).toBe("joined");
});

test("a token is of no use once another agent of that name has bound its key", () => {
  const world = worldAfter(invite(), bind("B"));
  expect(world.run(enroll())).toMatchObject({ events: [], reply: { code: "wrong-instance" } });
});

describe("a Liqo cluster ID", () => {
  const withLiqo = (clusterId: string, liqoId?: string): Command => ({
    kind: "advertise",
    advertisement: cluster(clusterId, {
      more: liqoId === undefined ? {} : { liqo: { clusterId: liqoId, version: "1.2.0" } },
    }),
  });

  test("belongs to the first cluster that advertises it, until that is evicted", () => {
    const world = worldAfter(withLiqo("rome", "liqo-1"), withLiqo("oslo"));
    expect(world.run(withLiqo("oslo", "liqo-1"))).toMatchObject({
      events: [],
      reply: {
        code: "liqo-id-taken",
        message: "Liqo cluster ID liqo-1 belongs to rome; if oslo is its successor: brokerctl evict rome",
      },
    });
    expect(world.reply(withLiqo("rome", "liqo-1"))).toEqual({ kind: "advertised" });
    world.run(evict("rome"));
    expect(world.reply(withLiqo("oslo", "liqo-1"))).toEqual({ kind: "advertised" });
    world.now += 1;
    world.run(invite());
    world.run(enroll());
    expect(world.reply(withLiqo("rome", "liqo-1"))).toMatchObject({ code: "liqo-id-taken" });
    expect(world.reply(withLiqo("oslo", "liqo-1"))).toEqual({ kind: "advertised" });
  });

  test("is free again when its cluster advertises another, or none", () => {
    const world = worldAfter(withLiqo("rome", "liqo-1"), withLiqo("rome", "liqo-2"));
    expect(world.reply(withLiqo("oslo", "liqo-1"))).toEqual({ kind: "advertised" });
    expect(world.reply(withLiqo("paris", "liqo-2"))).toMatchObject({ code: "liqo-id-taken" });
    world.run(withLiqo("rome"));
    expect(world.reply(withLiqo("paris", "liqo-2"))).toEqual({ kind: "advertised" });
  });
});
