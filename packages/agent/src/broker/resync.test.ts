import { Fault } from "@resource-broker/base";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import type { Reservation } from "../reservations/reservation.ts";
import { reservationCache } from "../reservations/reservation-cache.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { aReservation, ended, UID } from "../testing/samples.ts";
import type { Role } from "../transport/broker-communicator.ts";
import { createResync, resyncLoop } from "./resync.ts";

const { id } = aReservation();

function world() {
  const time = fakeClock();
  const log = recordedLog();
  const cache = reservationCache({ clusterId: "rome", now: time.wallMs });
  const broker: { listed: Reservation[]; known: Reservation[]; fault: Fault | undefined } = {
    listed: [],
    known: [],
    fault: undefined,
  };
  const asked: string[] = [];
  const orphans: string[] = [];
  let uids: ReadonlySet<string> | Fault = new Set([UID]);
  const taken = createResync({
    communicator: {
      fetchReservations: async (role: Role) => {
        if (broker.fault !== undefined) throw broker.fault;
        return role === "requester" ? broker.listed : [];
      },
      fetchReservation: async (wanted) => {
        asked.push(wanted);
        return broker.known.find((reservation) => reservation.id === wanted);
      },
    },
    cache,
    requestUids: async () => {
      if (uids instanceof Fault) throw uids;
      return uids;
    },
    onOrphan: (uid) => void orphans.push(uid),
    clock: time,
    log,
  });
  return {
    time,
    log,
    cache,
    broker,
    asked,
    orphans,
    resync: taken,
    setUids: (next: typeof uids) => {
      uids = next;
    },
  };
}

describe("a resync", () => {
  test("learns what the broker lists, ends included", async () => {
    const {
      cache,
      broker,
      resync: { run },
    } = world();
    broker.listed = [aReservation()];
    await run();
    expect(cache.live("requester")).toHaveLength(1);
    broker.listed = [ended("Expired")];
    await run();
    expect(cache.live("requester")).toEqual([]);
  });

  test("asks by name for what is missing from the list, and believes only the answer", async () => {
    const {
      cache,
      broker,
      asked,
      resync: { run },
    } = world();
    cache.update("requester", aReservation());
    broker.known = [aReservation()];
    await run();
    expect(asked).toEqual([id]);
    expect(cache.live("requester")).toMatchObject([{ syncState: "confirmed" }]);
    broker.known = [ended("ReleasedByAdmin")];
    await run();
    expect(cache.live("requester")).toEqual([]);
  });

  test("keeps what the broker does not know, and says so once", async () => {
    const {
      cache,
      log,
      resync: { run },
    } = world();
    cache.update("requester", aReservation());
    await run();
    await run();
    expect(cache.live("requester")).toMatchObject([{ syncState: "unknown" }]);
    expect(log.lines.filter((line) => line.includes("does not know"))).toHaveLength(1);
  });

  test("asks an older broker, which lists nothing, for each by its name", async () => {
    const {
      cache,
      broker,
      asked,
      resync: { run },
    } = world();
    broker.fault = new Fault("unsupported", "an older broker");
    cache.update("requester", aReservation());
    broker.known = [ended("Expired")];
    await run();
    expect(asked).toEqual([id]);
    expect(cache.live("requester")).toEqual([]);
  });

  test("that fails marks nothing unknown", async () => {
    const {
      cache,
      broker,
      resync: { run },
    } = world();
    cache.update("requester", aReservation());
    broker.fault = new Fault("unreachable", "nobody answers");
    await expect(run()).rejects.toThrow("nobody answers");
    expect(cache.live("requester")).toMatchObject([{ syncState: "confirmed" }]);
  });
});

describe("a reservation whose request is gone", () => {
  test("is given back when it was missing twice, half a minute apart", async () => {
    const {
      time,
      broker,
      orphans,
      setUids,
      resync: { run, hasMissing },
    } = world();
    broker.listed = [aReservation()];
    setUids(new Set());
    await run();
    expect(hasMissing()).toBe(true);
    await time.advance(29_999);
    await run();
    expect(orphans).toEqual([]);
    await time.advance(1);
    await run();
    expect(orphans).toEqual([UID]);
    expect(hasMissing()).toBe(false);
  });

  test("is kept when the request was there after all", async () => {
    const {
      time,
      broker,
      orphans,
      setUids,
      resync: { run, hasMissing },
    } = world();
    broker.listed = [aReservation()];
    setUids(new Set());
    await run();
    setUids(new Set([UID]));
    await time.advance(30_000);
    await run();
    expect(hasMissing()).toBe(false);
    setUids(new Set());
    await time.advance(30_000);
    await run();
    expect(orphans).toEqual([]);
  });

  test("is kept while the API server cannot be asked: only whole lists count", async () => {
    const {
      time,
      broker,
      orphans,
      setUids,
      resync: { run },
    } = world();
    broker.listed = [aReservation()];
    setUids(new Set());
    await run();
    setUids(new Fault("unreachable", "connection refused"));
    await time.advance(60_000);
    await expect(run()).rejects.toThrow("connection refused");
    expect(orphans).toEqual([]);
    setUids(new Set());
    await run();
    expect(orphans).toEqual([UID]);
  });

  test("is none of ours if it was made by somebody else", async () => {
    const {
      time,
      broker,
      orphans,
      setUids,
      resync: { run },
    } = world();
    broker.listed = [aReservation({ key: "made-by-hand" })];
    setUids(new Set());
    await run();
    await time.advance(60_000);
    await run();
    expect(orphans).toEqual([]);
  });
});

function loopEnvironment() {
  const time = fakeClock();
  const log = recordedLog();
  const begin = time.monotonicMs();
  const state: { at: number[]; offers: number; hasMissing: boolean; fault: Fault | undefined } = {
    at: [],
    offers: 0,
    hasMissing: false,
    fault: undefined,
  };
  const rounds = resyncLoop({
    resync: {
      run: async () => {
        state.at.push((time.monotonicMs() - begin) / 1000);
        if (state.fault !== undefined) throw state.fault;
      },
      hasMissing: () => state.hasMissing,
    },
    offer: async () => void state.offers++,
    clock: time,
    log,
  });
  rounds.start();
  return { time, log, state, rounds };
}

test("a resync is taken at the start and every minute, each with an offer", async () => {
  const { time, state, rounds } = loopEnvironment();
  await time.advance(130_000);
  expect(state.at).toEqual([0, 60, 120]);
  expect(state.offers).toBe(3);
  await rounds.stop();
});

test("it is taken after half a minute when somebody is missing, or when it failed", async () => {
  const { time, state, rounds, log } = loopEnvironment();
  state.hasMissing = true;
  await time.advance(31_000);
  state.hasMissing = false;
  state.fault = new Fault("unreachable", "nobody answers");
  await time.advance(60_000);
  state.fault = undefined;
  await time.advance(60_000);
  expect(state.at).toEqual([0, 30, 60, 90, 120]);
  expect(log.lines.map((line) => line.split(" ")[0])).toEqual(["warn", "info"]);
  await rounds.stop();
});

test("it is taken at once when something may have been missed, once for many hints", async () => {
  const { time, state, rounds } = loopEnvironment();
  await time.advance(10_000);
  for (let hint = 0; hint < 5; hint++) rounds.trigger();
  await time.advance(1000);
  expect(state.at).toEqual([0, 10.1]);
  await rounds.stop();
});

test("a hint during a resync leads to another one", async () => {
  const { time, state, rounds } = loopEnvironment();
  rounds.trigger();
  await time.advance(1000);
  expect(state.at).toEqual([0, 0.1]);
  await rounds.stop();
});

test("none is taken after stopping", async () => {
  const { time, state, rounds } = loopEnvironment();
  await time.advance(1);
  await rounds.stop();
  rounds.trigger();
  await time.advance(300_000);
  expect(state.at).toEqual([0]);
});
