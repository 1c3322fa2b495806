import { deepStrictEqual, ok, strictEqual } from "node:assert";
import fc from "fast-check";
import type { Advertisement, ReservationUsage } from "../advertisement/advertisement.ts";
import { type AccountView, VIRTUAL_NODE_TEARDOWN_MS } from "../ledger/account.ts";
import { apply } from "../ledger/apply.ts";
import type { Command, Outcome } from "../ledger/command.ts";
import { decide } from "../ledger/decide.ts";
import type { LedgerEvent } from "../ledger/event.ts";
import { cloneLedger, type LedgerView } from "../ledger/ledger.ts";
import { ledgerFrom, recordsOf } from "../ledger/records.ts";
import type { Phase } from "../reservation/lifecycle.ts";
import type { Reservation } from "../reservation/reservation.ts";
import { type CandidateTableView, ROW_WIDTH } from "../scheduling/candidate-table.ts";
import { cluster, request } from "./builders.ts";
import { ADMIN, actor, openWorld } from "./world.ts";

const CLUSTERS = ["rome", "paris", "berlin", "tokyo"] as const;
const KEYS = ["k0", "k1", "k2"] as const;

const clusterId = fc.constantFrom(...CLUSTERS);
const cpu = fc.integer({ min: 0, max: 24 });
/** Which of the reservations known so far is meant; wraps around. */
const pick = fc.nat({ max: 30 });

/** What may happen. Deliberately small numbers: collisions are the point. */
export const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("advertise" as const),
      clusterId,
      cpu,
      gpu: fc.integer({ min: 0, max: 3 }),
      allocated: fc.integer({ min: 0, max: 4 }),
      protocol: fc.constantFrom(1, 2, 2, 2),
      instance: fc.constantFrom(undefined, "a", "b"),
      sequence: fc.integer({ min: 0, max: 5 }),
      /** For each hold the agent reports: which reservation, and how much its pods use. */
      holds: fc.array(fc.record({ pick, used: fc.integer({ min: 0, max: 6 }) }), { maxLength: 4 }),
      unknownHold: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("reserve" as const),
      clusterId,
      cpu: fc.integer({ min: 1, max: 6 }),
      gpu: fc.constantFrom(0, 0, 0, 1),
      key: fc.option(fc.constantFrom(...KEYS), { nil: undefined }),
      seconds: fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("activate" as const), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("renew" as const),
      pick,
      seconds: fc.integer({ min: 1, max: 200 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("release" as const), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("release-by-key" as const),
      clusterId,
      key: fc.constantFrom(...KEYS),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("acknowledge" as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("refuse" as const), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("cordon" as const),
      clusterId,
      on: fc.constantFrom(true, false, false),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("adopt" as const),
      clusterId,
      provider: clusterId,
      cpu,
      key: fc.option(fc.constantFrom(...KEYS), { nil: undefined }),
      seconds: fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined }),
      by: fc.constantFrom("requester" as const, "provider" as const, "admin" as const),
      /** When it was made, in seconds before now. */
      age: fc.constantFrom(0, 30, 1e9),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("adoption" as const),
      /** 0 closes. */
      seconds: fc.constantFrom(0, 10, 3600, 90_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("time" as const),
      seconds: fc.oneof(fc.integer({ min: -50, max: 60 }), fc.constantFrom(-1e6, 86_400, 90_000)),
    }),
  },
);

export type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** Runs actions on a real ledger and on a plain model beside it, and compares after each. */
export class ModelRun {
  readonly #world = openWorld({
    refusalMemoryMs: 20_000,
    requesterLostMs: 3_000_000,
    activationTimeoutMs: 70_000,
    // Time leaps by days here: with the usual staleness hardly anything would be granted.
    stalenessMs: Number.POSITIVE_INFINITY,
  });
  /** The model: newest advertisements, and every reservation event ever seen. */
  readonly #newest = new Map<string, Advertisement>();
  readonly #reservations = new Map<string, Reservation>();
  /** And when. */
  readonly #ended = new Map<string, number>();
  readonly #receivedAt = new Map<string, number>();
  readonly #grantsByKey = new Map<string, string>();
  #adoptions = 0;
  /** Holds made before the first may be adopted until the second. */
  #adoptable = { since: 0, until: 0 };
  /** The latest moment a command was run at. */
  #latest = 0;

  perform(each: Action): void {
    const world = this.#world;
    if (each.do === "time") {
      world.now += each.seconds * 1000;
      for (let more = true; more; ) {
        const { reply } = this.#run({ kind: "expire-due" });
        more = reply.kind === "swept" && reply.hasMore;
      }
      return;
    }
    const command = this.#commandFor(each);
    if (command !== undefined) this.#run(command);
  }

  /** Invariant 5: what the store keeps is enough to get the same ledger back. */
  checkRebuild(): void {
    const { ledger, now, policy } = this.#world;
    const rebuilt = ledgerFrom(recordsOf(ledger), Math.max(now, this.#latest));
    deepStrictEqual(comparable(rebuilt), comparable(ledger));
    const expired = decide(rebuilt, { kind: "expire-due" }, { now, policy }).events;
    ok(
      !expired.some((event) => event.kind === "ended" && event.reason === "RequesterLost"),
      "lost by a restart",
    );
  }

  #run(command: Command): Outcome {
    const { ledger, now, policy } = this.#world;
    const before = cloneLedger(ledger);
    this.#latest = Math.max(this.#latest, now);
    const outcome = decide(ledger, command, { now, policy });
    deepStrictEqual(comparable(ledger), comparable(before), "decide must change nothing");
    for (const event of outcome.events) {
      this.#checkBefore(event);
      const time = ledger.time;
      apply(ledger, event);
      ok(ledger.time >= time, "time ran backwards");
      this.#track(event);
    }
    this.#checkAccounts();
    return outcome;
  }

  #checkBefore(event: LedgerEvent): void {
    if (event.kind === "granted") {
      const { provider, requester, granted, key } = event.reservation;
      const available = this.#available(provider);
      ok(granted.cpuMillis <= available.cpuMillis, `double booking of CPU at ${provider}`);
      ok(granted.gpus <= available.gpus, `double booking of GPU at ${provider}`);
      ok(provider !== requester, "a cluster lent to itself");
      if (key !== undefined)
        strictEqual(this.#grantsByKey.get(`${requester} ${key}`), undefined, "a retry booked twice");
    }
    if (event.kind === "adopted") this.#checkAdoption(event.reservation, event.at);
    if (event.kind === "ended") {
      ok(!this.#ended.has(event.id), `${event.id} ended twice`);
      const { expiresAt } = this.#world.reservation(event.id);
      if (event.reason === "Expired")
        ok(expiresAt !== undefined && event.at >= expiresAt, `${event.id} expired early`);
    }
  }

  #checkAdoption({ id, requester, provider, key, granted, createdAt }: Reservation, at: number): void {
    if (key !== undefined)
      strictEqual(this.#grantsByKey.get(`${requester} ${key}`), undefined, "an adoption took a key");
    ok(at < this.#adoptable.until, `${id} was adopted while adoption was closed`);
    ok(createdAt < this.#adoptable.since, `${id} was adopted though the ledger remembers its time`);
    const reported = this.#newest.get(provider)?.usage.find(({ reservationId }) => reservationId === id);
    const counted = reported === undefined ? 0 : this.#nonLiveAmount(provider, reported, "cpuMillis");
    const grows = Math.max(0, granted.cpuMillis - counted);
    ok(grows <= this.#available(provider).cpuMillis, `an adoption at ${provider} exceeds what it has`);
  }

  /** Keeps the model in step, using the events alone. */
  #track(event: LedgerEvent): void {
    if (event.kind === "advertised") {
      this.#newest.set(event.advertisement.clusterId, event.advertisement);
      this.#receivedAt.set(event.advertisement.clusterId, event.at);
    }
    if (event.kind === "ended") this.#ended.set(event.id, event.at);
    if (event.kind === "adoption-window-set") this.#adoptable = event.window;
    if (event.kind === "forgotten") this.#drop(event.id);
    if (event.kind === "granted" || event.kind === "adopted") {
      const { id, key, requester } = event.reservation;
      if (key !== undefined) this.#grantsByKey.set(`${requester} ${key}`, id);
      this.#reservations.set(id, event.reservation);
    }
    for (const [id, reservation] of this.#world.ledger.reservations) {
      const known = this.#reservations.get(id);
      ok(known !== undefined, `${id} came from nowhere`);
      ok(
        ORDER[reservation.phase] >= ORDER[known.phase],
        `${id} went from ${known.phase} to ${reservation.phase}`,
      );
      ok(reservation.generation >= known.generation, `${id} went back a generation`);
      deepStrictEqual(reservation.granted, known.granted, `the amount of ${id} changed`);
      this.#reservations.set(id, reservation);
    }
  }

  #drop(id: string): void {
    const known = this.#reservations.get(id);
    ok(this.#ended.has(id), `${id} was forgotten alive`);
    if (known?.key !== undefined) this.#grantsByKey.delete(`${known.requester} ${known.key}`);
    this.#reservations.delete(id);
    this.#ended.delete(id);
  }

  #checkAccounts(): void {
    const { candidateTable } = this.#world.ledger;
    deepStrictEqual(
      tableRows(cloneLedger(this.#world.ledger).candidateTable),
      tableRows(candidateTable),
      "deciding reads old figures",
    );
    for (const id of this.#newest.keys()) {
      const { available } = this.#world.account(id);
      const expected = this.#available(id);
      strictEqual(available.cpuMillis, expected.cpuMillis, `available CPU of ${id} drifted`);
      strictEqual(available.gpus, expected.gpus, `available GPU of ${id} drifted`);
    }
  }

  #available(provider: string): { readonly cpuMillis: number; readonly gpus: number } {
    return {
      cpuMillis: this.#availableAmount(provider, "cpuMillis"),
      gpus: this.#availableAmount(provider, "gpus"),
    };
  }

  /** §3's formula, straight from the model's sets. */
  #availableAmount(provider: string, unit: "cpuMillis" | "gpus"): number {
    const advertisement = this.#newest.get(provider);
    if (advertisement === undefined) return 0;
    const { allocatable, allocated, usage, protocol } = advertisement;
    const used = new Map(usage.map((entry) => [entry.reservationId, entry.used[unit]]));
    const live = [...this.#reservations.values()].filter(({ id }) => !this.#ended.has(id));
    const provided = live
      .filter((reservation) => reservation.provider === provider)
      .map(({ id, granted }) => Math.max(granted[unit], used.get(id) ?? 0));
    // An older agent may count its virtual nodes, also for some minutes after the end.
    const since = (this.#receivedAt.get(provider) ?? 0) - VIRTUAL_NODE_TEARDOWN_MS;
    const requested = [...this.#reservations.values()]
      .filter(({ requester, id }) => requester === provider && (this.#ended.get(id) ?? Infinity) > since)
      .filter(() => protocol < 2)
      .map(({ granted }) => granted[unit]);
    const others = usage.map((entry) => this.#nonLiveAmount(provider, entry, unit));
    return Math.max(0, allocatable[unit] - allocated[unit] - total([...provided, ...requested, ...others]));
  }

  /** What a reported hold takes when it is not a live reservation of this provider. */
  #nonLiveAmount(
    provider: string,
    { reservationId: id, granted, used }: ReservationUsage,
    unit: "cpuMillis" | "gpus",
  ): number {
    if (this.#reservations.get(id)?.provider !== provider) return Math.max(granted[unit], used[unit]);
    return this.#ended.has(id) ? used[unit] : 0;
  }

  #commandFor(each: Exclude<Action, { do: "time" }>): Command | undefined {
    switch (each.do) {
      case "advertise":
        return { kind: "advertise", advertisement: this.#advertisementFor(each) };
      case "reserve":
        return this.#reserveFor(each);
      case "release-by-key":
        return { kind: "release-by-key", requester: each.clusterId, key: each.key };
      case "cordon":
        return { kind: each.on ? "cordon" : "uncordon", by: ADMIN, clusterId: each.clusterId };
      case "adopt":
        return this.#adoptFor(each);
      case "adoption":
        return each.seconds === 0
          ? { kind: "close-adoption", by: ADMIN }
          : { kind: "open-adoption", by: ADMIN, durationMs: each.seconds * 1000 };
      case "activate":
      case "renew":
      case "release":
      case "acknowledge":
      case "refuse":
        return this.#partyCallFor(each);
    }
  }

  #partyCallFor(each: Extract<Action, { pick: number }>): Command | undefined {
    const reservation = this.#pick(each.pick);
    if (reservation === undefined) return undefined;
    const { id, requester, provider } = reservation;
    switch (each.do) {
      case "activate":
      case "release":
        return { kind: each.do, by: actor(requester), id };
      case "renew":
        return { kind: "renew", by: actor(requester), id, durationMs: each.seconds * 1000 };
      case "acknowledge":
        return { kind: "acknowledge", by: actor(provider), id };
      case "refuse":
        return { kind: "refuse", by: actor(provider), id, why: "cannot hold it" };
    }
  }

  #reserveFor(each: Extract<Action, { do: "reserve" }>): Command {
    const wanted = request(
      { cpu: each.cpu, memoryGi: 1, gpu: each.gpu },
      each.seconds === undefined ? {} : { durationMs: each.seconds * 1000 },
    );
    const serial = this.#reservations.size + this.#world.now;
    const base = {
      kind: "reserve",
      requester: each.clusterId,
      request: wanted,
      decisionId: `dec-${serial}`,
    } as const;
    if (each.key === undefined) return { ...base, reservationId: `rsv-${each.clusterId}-${serial}` };
    return { ...base, key: each.key, reservationId: `rsv-${each.clusterId}-${each.key}` };
  }

  #adoptFor(each: Extract<Action, { do: "adopt" }>): Command {
    const offer = {
      id: `rsv-${each.clusterId}-adopted-${this.#adoptions++ % 3}`,
      requester: each.clusterId,
      provider: each.provider,
      granted: request({ cpu: each.cpu % 3, memoryGi: 1 }).resources,
      phase: "Reserved" as const,
      generation: 1,
      createdAt: this.#latest - each.age * 1000,
      ...(each.key === undefined ? {} : { key: each.key }),
      ...(each.seconds === undefined ? {} : { expiresAt: this.#latest + each.seconds * 1000 }),
    };
    const by = each.by === "admin" ? ADMIN : actor(each.by === "requester" ? each.clusterId : each.provider);
    return { kind: "adopt", by, offer };
  }

  #advertisementFor(each: Extract<Action, { do: "advertise" }>): Advertisement {
    const holds = new Map<string, { id: string; granted: { cpu: number }; used: { cpu: number } }>();
    for (const hold of each.holds) {
      const reservation = this.#pick(hold.pick);
      if (reservation === undefined) continue;
      const granted = { cpu: reservation.granted.cpuMillis / 1000 };
      holds.set(reservation.id, { id: reservation.id, granted, used: { cpu: hold.used } });
    }
    if (each.unknownHold !== undefined) {
      // Sometimes one that is offered for adoption.
      const id = each.unknownHold > 2 ? "rsv-rome-adopted-1" : "rsv-unknown";
      holds.set(id, { id, granted: { cpu: each.unknownHold }, used: { cpu: 1 } });
    }
    return cluster(each.clusterId, {
      cpu: each.cpu,
      gpu: each.gpu,
      allocated: { cpu: each.allocated },
      usage: [...holds.values()],
      more: {
        protocol: each.protocol,
        ...(each.instance === undefined ? {} : { instance: each.instance, sequence: each.sequence }),
      },
    });
  }

  #pick(index: number): Reservation | undefined {
    const all = [...this.#reservations.values()];
    return all[index % Math.max(1, all.length)];
  }
}

const total = (amounts: readonly number[]) => amounts.reduce((sum, amount) => sum + amount, 0);

const ORDER: Readonly<Record<Phase, number>> = { Pending: 0, Reserved: 1, Active: 2, Released: 3, Failed: 3 };

/** A ledger as comparable data, without what a restart may change. */
function comparable(ledger: LedgerView): unknown {
  return {
    reservations: sorted(ledger.reservations),
    keys: sorted(ledger.keys),
    closedKeys: sorted(ledger.closedKeys),
    time: ledger.time,
    adoption: ledger.adoption,
    accounts: sorted(ledger.accounts)
      .filter(([, account]) => !isEmptyAccount(account))
      .map(([id, account]) => {
        const { lastSeenAt: _, asProvider, asRequester, endedAsRequester, refused, usage, ...rest } = account;
        return [
          id,
          rest,
          sorted(asProvider),
          sorted(asRequester),
          sorted(endedAsRequester),
          sorted(refused ?? new Map()),
          sorted(usage),
        ];
      }),
    deadlines: ledger.deadlines
      .due(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
      .filter(({ kind }) => kind !== "adoption-offer")
      .map((deadline) => JSON.stringify(deadline))
      .sort(),
  };
}

/** The roster's figures by cluster. */
function tableRows({ candidates, values }: CandidateTableView): [string, number[]][] {
  const rows = candidates.map(({ clusterId }, position): [string, number[]] => {
    return [clusterId, [...values.subarray(position * ROW_WIDTH, (position + 1) * ROW_WIDTH)]];
  });
  return rows.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A cluster of which only the name is left. */
function isEmptyAccount({ advertisement, cordon, asProvider, asRequester, refused }: AccountView): boolean {
  const isUnused = asProvider.size === 0 && asRequester.size === 0 && refused === undefined;
  return isUnused && advertisement === undefined && cordon === undefined;
}

function sorted<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
