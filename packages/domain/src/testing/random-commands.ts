import fc from "fast-check";
import type { Advertisement, ReservationUsage } from "../advertisement/advertisement.ts";
import type { Command } from "../ledger/command.ts";
import type { Reservation } from "../reservation/reservation.ts";
import { cluster, priced, request, size } from "./builders.ts";
import { accept, bind, enroll, evict, identityKey, invite, secretHash } from "./member-commands.ts";
import { ADMIN, actor, type World } from "./world.ts";

const clusterId = fc.constantFrom("rome", "paris", "berlin", "tokyo");
const key: fc.Arbitrary<string> = fc.constantFrom("k0", "k1", "k2", "a key with \n \u{1F511} and \u0000");
const cpu = fc.integer({ min: 0, max: 24 });
/** Which of the reservations known so far is meant; wraps around. */
const pick = fc.nat({ max: 30 });
/** Some last beyond midnight. */
const seconds = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 200 }) },
  { weight: 1, arbitrary: fc.constantFrom(43_200, 50_000, 100_000, 300_000) },
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const advertiseFields = {
  do: fc.constant("advertise" as const),
  clusterId,
  cpu,
  gpu: fc.integer({ min: 0, max: 3 }),
  allocated: fc.integer({ min: 0, max: 4 }),
  protocol: fc.constantFrom(1, 2, 3, 3, 3),
  instance: fc.constantFrom(undefined, "a", "b"),
  sequence: fc.integer({ min: 0, max: 5 }),
  /** For each hold the agent reports: which reservation, and how much its pods use. */
  holds: fc.array(fc.record({ pick, used: fc.integer({ min: 0, max: 6 }) }), { maxLength: 4 }),
  unknownHold: maybe(fc.integer({ min: 1, max: 4 })),
  liqo: fc.constantFrom(undefined, undefined, "liqo-1", "liqo-2"),
  /** Of a CPU for an hour. */
  price: fc.constantFrom(undefined, 0.04, 0.04, 0.07, 0.5, 0),
};
const advertise = fc.record(advertiseFields);
const reserveFields = {
  do: fc.constant("reserve" as const),
  clusterId,
  cpu: fc.integer({ min: 1, max: 6 }),
  gpu: fc.constantFrom(0, 0, 0, 1),
  key: maybe(key),
  seconds: maybe(seconds),
  /** How long it would wait. Only with a key. */
  wait: maybe(fc.integer({ min: 1, max: 2000 })),
  priority: fc.constantFrom<number[]>(0, 0, 0, 7, 20),
  tier: fc.constantFrom("on-demand" as const, "on-demand" as const, "spot" as const),
  /** The reservation that it resumes, if that was preempted. */
  resumes: pick,
  namespace: fc.constantFrom(undefined, "ml"),
};
const reserve = fc.record(reserveFields);
const adopt = fc.record({
  do: fc.constant("adopt" as const),
  clusterId,
  provider: clusterId,
  cpu,
  key: maybe(key),
  seconds: maybe(seconds),
  by: fc.constantFrom("requester" as const, "provider" as const, "admin" as const),
  /** When it was made, in seconds before now. */
  age: fc.constantFrom(0, 30, 1e9),
});
const partyCallFields = {
  do: fc.constantFrom("activate", "renew", "release", "release", "acknowledge", "refuse"),
  pick,
  seconds,
};
const partyCall = fc.record(partyCallFields);
const member = fc.record({
  do: fc.constantFrom("invite", "invite", "enroll", "enroll", "enroll", "accept", "evict", "bind", "bind"),
  clusterId,
  /** Few tokens, secrets and keys: one is often used for another cluster, too late, or by another agent. */
  token: fc.constantFrom("token00001", "token00002", "token00003"),
  secret: fc.constantFrom("a", "a", "a", "b"),
  key: fc.constantFrom("A", "A", "B"),
  seconds,
  isYes: fc.boolean(),
});
const cordon = fc.record({
  do: fc.constantFrom("cordon" as const, "uncordon" as const, "uncordon" as const, "drain" as const),
  clusterId,
  /** Of a drain. */
  graceSeconds: fc.constantFrom(undefined, 1, 20, 200),
});
/** 0 closes. */
const windowSeconds = fc.constantFrom(0, 10, 3600, 90_000);
const step = fc.oneof(fc.integer({ min: -50, max: 60 }), fc.constantFrom(-1e6, 86_400, 90_000, 2_000_000));

/** What may happen. Deliberately few names and small numbers: collisions are the point. */
export const ledgerAction = fc.oneof(
  { weight: 4, arbitrary: advertise },
  { weight: 6, arbitrary: reserve },
  { weight: 6, arbitrary: partyCall },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("release-by-key" as const), clusterId, key }) },
  { weight: 1, arbitrary: cordon },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("admit" as const) }) },
  { weight: 3, arbitrary: adopt },
  { weight: 2, arbitrary: member },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("adoption" as const), seconds: windowSeconds }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("time" as const), seconds: step }) },
);

/** Clusters of one size that are always full: many requests wait, and many have others give way. */
export const marketAction = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      ...advertiseFields,
      cpu: fc.constantFrom(10, 10, 10, 10, 9),
      allocated: fc.constantFrom(0, 0, 0, 1),
      protocol: fc.constantFrom(2, 3, 3, 3, 3, 3),
      holds: fc.array(fc.record({ pick, used: fc.constantFrom(0, 0, 0, 5) }), { maxLength: 1 }),
      instance: fc.constant(undefined),
      unknownHold: fc.constant(undefined),
      liqo: fc.constant(undefined),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      ...reserveFields,
      gpu: fc.constant(0),
      key: fc.constantFrom("k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9"),
      seconds: fc.constantFrom(undefined, undefined, undefined, 120),
      wait: fc.constantFrom(undefined, 40, 900, 2000, 2000),
      priority: fc.constantFrom(0, 0, 5, 20, 40),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ ...partyCallFields, do: fc.constantFrom("activate", "renew", "release") }),
  },
  { weight: 1, arbitrary: cordon },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("admit" as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("time" as const), seconds: fc.constantFrom(1, 5, 15, 31) }),
  },
);

export type LedgerAction = typeof ledgerAction extends fc.Arbitrary<infer T> ? T : never;

/** Turns actions into commands for this world; undefined where an action makes no sense there. Moves the clock for `time`. */
export function commandsFor(world: World): (action: LedgerAction) => Command | undefined {
  let made = 0;
  return (each) => {
    made++;
    switch (each.do) {
      case "advertise":
        return { kind: "advertise", advertisement: advertisementFor(world, each) };
      case "reserve":
        return reserveFor(each, made, picked(world, each.resumes));
      case "admit":
        return { kind: "admit", decisionId: `dec-${made}` };
      case "release-by-key":
        return { kind: "release-by-key", requester: each.clusterId, key: each.key };
      case "cordon":
      case "uncordon":
        return { kind: each.do, by: ADMIN, clusterId: each.clusterId, why: "planned work" };
      case "drain":
        return {
          kind: "drain",
          by: ADMIN,
          clusterId: each.clusterId,
          ...(each.graceSeconds === undefined ? {} : { graceMs: each.graceSeconds * 1000 }),
        };
      case "adopt":
        return adoptFor(world, each, made);
      case "adoption":
        return each.seconds === 0
          ? { kind: "close-adoption", by: ADMIN }
          : { kind: "open-adoption", by: ADMIN, durationMs: each.seconds * 1000 };
      case "time":
        world.now += each.seconds * 1000;
        return { kind: "expire-due" };
      case "invite":
      case "enroll":
      case "accept":
      case "evict":
      case "bind":
        return memberCommandFor(each);
      default:
        return partyCallFor(picked(world, each.pick), each);
    }
  };
}

type Of<K extends LedgerAction["do"]> = Extract<LedgerAction, { readonly do: K }>;

function partyCallFor(
  reservation: Reservation | undefined,
  each: { readonly do: string; readonly seconds: number },
): Command | undefined {
  if (reservation === undefined) return undefined;
  const { id } = reservation;
  const byRequester = { by: actor(reservation.requester), id };
  const byProvider = { by: actor(reservation.provider), id };
  switch (each.do) {
    case "activate":
      return { kind: "activate", ...byRequester };
    case "renew":
      return { kind: "renew", ...byRequester, durationMs: each.seconds * 1000 };
    case "acknowledge":
      return { kind: "acknowledge", ...byProvider };
    case "refuse":
      return { kind: "refuse", ...byProvider, why: "no room \ud800 after all" };
    default:
      return { kind: "release", ...byRequester };
  }
}

function memberCommandFor(each: typeof member extends fc.Arbitrary<infer T> ? T : never): Command {
  const { clusterId, token: tokenId } = each;
  const hash = secretHash(each.secret);
  switch (each.do) {
    case "invite":
      return invite({
        clusterId,
        tokenId,
        secretHash: hash,
        lifetimeMs: each.seconds * 1000,
        needsConfirmation: each.key === "B",
        isReplacing: each.isYes,
      });
    case "enroll":
      return enroll({ clusterId, tokenId, secretHash: hash, key: identityKey(each.key) });
    case "accept":
      return accept(each.key, clusterId);
    case "evict":
      return evict(clusterId);
    default:
      return bind(each.key, clusterId);
  }
}

function reserveFor(each: Of<"reserve">, made: number, resumes: Reservation | undefined): Command {
  const wanted = request(
    { cpu: each.cpu, memoryGi: 1, gpu: each.gpu },
    {
      priority: each.priority,
      tier: each.tier,
      ...(each.seconds === undefined ? {} : { durationMs: each.seconds * 1000 }),
    },
  );
  const { wait, namespace } = each;
  const name = each.key === undefined ? `n${made}` : encodeURIComponent(each.key).toLowerCase();
  return {
    kind: "reserve",
    requester: each.clusterId,
    request: wanted,
    decisionId: `dec-${made}`,
    reservationId: `rsv-${each.clusterId}-${name.replaceAll(/[^a-z0-9]/g, "")}`,
    ...(each.key === undefined ? {} : { key: each.key }),
    ...(each.key === undefined || wait === undefined ? {} : { wait: { forMs: wait * 1000 } }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(resumes?.reason === "Preempted" ? { resumes: resumes.id } : {}),
  };
}

function adoptFor(world: World, each: Of<"adopt">, made: number): Command {
  const offer = {
    id: `rsv-${each.clusterId}-adopted-${made % 3}`,
    requester: each.clusterId,
    provider: each.provider,
    granted: request({ cpu: each.cpu % 3, memoryGi: 1 }).resources,
    phase: "Reserved" as const,
    generation: 1,
    createdAt: world.latest - each.age * 1000,
    ...(each.key === undefined ? {} : { key: each.key }),
    ...(each.seconds === undefined ? {} : { expiresAt: world.latest + each.seconds * 1000 }),
  };
  const by = each.by === "admin" ? ADMIN : actor(each.by === "requester" ? each.clusterId : each.provider);
  return { kind: "adopt", by, offer };
}

function advertisementFor(world: World, each: Of<"advertise">): Advertisement {
  const usage = new Map<string, ReservationUsage>();
  const report = (reservationId: string, granted: ReservationUsage["granted"], used: number): void =>
    void usage.set(reservationId, { reservationId, granted, used: size({ cpu: used }) });
  for (const hold of each.holds) {
    const reservation = picked(world, hold.pick);
    if (reservation !== undefined) report(reservation.id, reservation.granted, hold.used);
  }
  // Sometimes one that is offered for adoption.
  const { unknownHold = 0 } = each;
  if (unknownHold > 0)
    report(unknownHold > 2 ? "rsv-rome-adopted-1" : "rsv-unknown", size({ cpu: unknownHold }), 1);
  return cluster(each.clusterId, {
    cpu: each.cpu,
    gpu: each.gpu,
    allocated: { cpu: each.allocated },
    more: {
      usage: [...usage.values()],
      protocol: each.protocol,
      ...(each.price === undefined ? {} : { cost: priced(each.price) }),
      ...(each.liqo === undefined ? {} : { liqo: { clusterId: each.liqo, version: "1.2.0" } }),
      ...(each.instance === undefined ? {} : { instance: each.instance, sequence: each.sequence }),
    },
  });
}

function picked({ ledger }: World, index: number): Reservation | undefined {
  const all = [...ledger.reservations.values()];
  return all[index % Math.max(1, all.length)];
}
