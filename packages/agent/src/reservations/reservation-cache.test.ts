import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aReservation, ended, UID } from "../testing/samples.ts";
import type { Reservation } from "./reservation.ts";
import { ENDED_RETENTION_MS, type ReservationCache, reservationCache } from "./reservation-cache.ts";

const { id } = aReservation();
const grant = aReservation();
const active = aReservation({ status: { phase: "Active", message: "" }, generation: 2 });
const released = ended("ReleasedByRequester", { generation: 3 });

function cacheOf(clusterId = "rome", clock = { now: 1000 }): ReservationCache {
  return reservationCache({ clusterId, now: () => clock.now });
}

describe("what the cache learns", () => {
  test("is the same at the end, in whatever order and however often it arrives", () => {
    const messages = fc.array(fc.constantFrom(grant, active, released), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(messages, (received) => {
        const cache = cacheOf();
        for (const message of received) cache.update("requester", message);
        const newest = Math.max(...received.map(({ generation = 0 }) => generation));
        expect(cache.get("requester", id)?.reservation.generation).toBe(newest);
        expect(cache.live("requester")).toHaveLength(newest === 3 ? 0 : 1);
      }),
    );
  });

  test("settles what its slice gets with its first word", () => {
    const [few, many] = [
      { pods: 50, ephemeralStorage: "5Gi" },
      { pods: 500, ephemeralStorage: "1Ti" },
    ];
    const [received, unreported] = [cacheOf(), cacheOf()];
    received.update("requester", { ...grant, sliceDefaults: few });
    expect(received.update("requester", { ...grant, sliceDefaults: many })).toBe("same");
    expect(received.update("requester", grant)).toBe("same");
    expect(received.update("requester", active)).toBe("changed");
    expect(received.get("requester", id)?.reservation).toEqual({ ...active, sliceDefaults: few });
    unreported.restore("requester", grant);
    unreported.update("requester", { ...active, sliceDefaults: many });
    expect(unreported.get("requester", id)?.reservation).toEqual(active);
    const nextLife = { ...grant, createdAt: "2036-01-01T00:00:00Z", sliceDefaults: many };
    received.update("requester", released);
    received.update("requester", nextLife);
    expect(received.get("requester", id)?.reservation).toEqual(nextLife);
  });

  test("is nothing when it is about others", () => {
    const cache = cacheOf("berlin");
    expect(cache.update("requester", grant)).toBe("not-ours");
    expect(cache.update("provider", grant)).toBe("not-ours");
    cache.restore("provider", grant);
    expect(cache.live("provider")).toEqual([]);
  });

  test("is a new life when the same key was used again a day later, also when the end was missed", () => {
    const nextDay = { ...grant, createdAt: "2036-01-01T00:00:00Z", generation: 1 };
    const [missed, received] = [cacheOf(), cacheOf()];
    for (const cache of [missed, received]) cache.update("requester", active);
    received.update("requester", released);
    for (const cache of [missed, received]) {
      expect(cache.update("requester", nextDay)).toBe("changed");
      expect(cache.live("requester").map(({ reservation }) => reservation.createdAt)).toEqual([
        nextDay.createdAt,
      ]);
      expect(cache.update("requester", released)).toBe("old");
    }
  });
});

describe("an end", () => {
  test("is final with brokers that count no generations, too", () => {
    const cache = cacheOf();
    const { generation: _, ...uncounted } = grant;
    const over: Reservation = { ...uncounted, phase: "Released", message: "" };
    cache.update("requester", uncounted);
    cache.update("requester", over);
    expect(cache.update("requester", uncounted)).toBe("old");
    expect(cache.live("requester")).toEqual([]);
  });

  test("and everything else keeps the key that a broker does not repeat", () => {
    const cache = cacheOf();
    cache.update("requester", grant);
    const { key: _, ...keyless } = grant;
    expect(cache.update("requester", { ...keyless, generation: 2 })).toBe("changed");
    expect(cache.update("requester", { ...keyless, generation: 2 })).toBe("same");
    expect(cache.ofRequest(UID).get(1)?.reservation.generation).toBe(2);
  });

  test("decided here alone is taken back by newer news, and not by old", () => {
    const cache = cacheOf();
    cache.update("requester", grant);
    cache.endLocally(id, "Expired");
    expect(cache.get("requester", id)?.reservation).toMatchObject({
      phase: "Released",
      message: "Released (Expired)",
      endReason: "Expired",
    });
    expect(cache.update("requester", grant)).toBe("old");
    expect(cache.live("requester")).toEqual([]);
    expect(cache.update("requester", active)).toBe("changed");
    expect(cache.live("requester")).toHaveLength(1);
  });

  test("is remembered for a day", () => {
    const clock = { now: 0 };
    const cache = cacheOf("rome", clock);
    cache.update("requester", released);
    clock.now = ENDED_RETENTION_MS - 1;
    cache.prune();
    expect(cache.get("requester", id)).toBeDefined();
    clock.now = ENDED_RETENTION_MS + 1;
    cache.prune();
    expect(cache.get("requester", id)).toBeUndefined();
    expect(cache.ofRequest(UID).size).toBe(0);
  });
});

test("what lives is never forgotten, however long nobody spoke of it", () => {
  const clock = { now: 0 };
  const cache = cacheOf("rome", clock);
  cache.update("requester", grant);
  clock.now = 10 * ENDED_RETENTION_MS;
  cache.prune();
  expect(cache.live("requester")).toHaveLength(1);
  expect(cache.ofRequest(UID).size).toBe(1);
});

describe("what an instruction in the cluster says", () => {
  test("counts until the broker speaks", () => {
    const cache = cacheOf();
    cache.restore("requester", grant);
    expect(cache.get("requester", id)?.syncState).toBe("unconfirmed");
    cache.update("requester", grant);
    expect(cache.get("requester", id)?.syncState).toBe("confirmed");
    cache.restore("requester", grant);
    expect(cache.get("requester", id)?.syncState).toBe("confirmed");
  });
});

describe("a broker with another ledger", () => {
  test("has confirmed nothing yet, and counts generations from the start", () => {
    const cache = cacheOf();
    cache.update("requester", active);
    cache.markUnconfirmed();
    expect(cache.live("requester")).toMatchObject([{ syncState: "unconfirmed" }]);
    expect(cache.update("requester", grant)).toBe("changed");
    expect(cache.get("requester", id)).toMatchObject({ syncState: "confirmed", reservation: grant });
  });

  test("that took a forgotten reservation in is believed", () => {
    const cache = cacheOf();
    cache.update("requester", active);
    cache.markUnknown(id);
    expect(cache.update("requester", grant)).toBe("changed");
    expect(cache.get("requester", id)?.syncState).toBe("confirmed");
  });
});

test("reservations are found by the request they were made for, attempt by attempt", () => {
  const cache = cacheOf();
  cache.update("requester", ended("ProviderRefused"));
  cache.update("requester", aReservation({ id: "rsv-rome-second", key: `${UID}-2` }));
  cache.update("requester", aReservation({ id: "rsv-rome-other", key: "made-by-hand" }));
  expect([...cache.ofRequest(UID).keys()]).toEqual([1, 2]);
  expect(cache.ofRequest(UID).get(2)?.reservation.id).toBe("rsv-rome-second");
  expect(cache.ofRequest("somebody else").size).toBe(0);
});
