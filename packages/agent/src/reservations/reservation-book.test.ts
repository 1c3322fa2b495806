import type { ReservationDTO } from "@resource-broker/contract";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aReservation, ended, UID } from "../testing/samples.ts";
import { REMEMBER_ENDED_MS, type ReservationBook, reservationBook } from "./reservation-book.ts";

const { id } = aReservation();
const grant = aReservation();
const active = aReservation({ status: { phase: "Active", message: "" }, generation: 2 });
const released = ended("ReleasedByRequester", { generation: 3 });

function bookOf(clusterId = "rome", clock = { now: 1000 }): ReservationBook {
  return reservationBook({ clusterId, now: () => clock.now });
}

describe("what the book learns", () => {
  test("is news once", () => {
    const book = bookOf();
    expect(book.learn("requester", grant)).toBe("new");
    expect(book.learn("requester", grant)).toBe("same");
    expect(book.learn("requester", active)).toBe("changed");
    expect(book.learn("requester", grant)).toBe("old");
    expect(book.get("requester", id)?.reservation.status.phase).toBe("Active");
  });

  test("is the same at the end, in whatever order and however often it arrives", () => {
    const messages = fc.array(fc.constantFrom(grant, active, released), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(messages, (heard) => {
        const book = bookOf();
        for (const message of heard) book.learn("requester", message);
        const newest = Math.max(...heard.map(({ generation = 0 }) => generation));
        expect(book.get("requester", id)?.reservation.generation).toBe(newest);
        expect(book.live("requester")).toHaveLength(newest === 3 ? 0 : 1);
      }),
    );
  });

  test("settles what its slice gets with its first word, in whatever order the words have their fields", () => {
    const [few, many] = [
      { pods: 50, ephemeralStorage: "5Gi" },
      { pods: 500, ephemeralStorage: "1Ti" },
    ];
    const [told, untold] = [bookOf(), bookOf()];
    told.learn("requester", { sliceDefaults: few, ...grant });
    expect(told.learn("requester", { ...grant, sliceDefaults: many })).toBe("same");
    expect(told.learn("requester", grant)).toBe("same");
    expect(told.learn("requester", active)).toBe("changed");
    expect(told.get("requester", id)?.reservation).toEqual({ ...active, sliceDefaults: few });
    untold.remember("requester", grant);
    untold.learn("requester", { ...active, sliceDefaults: many });
    expect(untold.get("requester", id)?.reservation).toEqual(active);
    const nextLife = { ...grant, createdAt: "2036-01-01T00:00:00Z", sliceDefaults: many };
    told.learn("requester", released);
    told.learn("requester", nextLife);
    expect(told.get("requester", id)?.reservation).toEqual(nextLife);
  });

  test("is nothing when it is about others", () => {
    const book = bookOf("berlin");
    expect(book.learn("requester", grant)).toBe("not-ours");
    expect(book.learn("provider", grant)).toBe("not-ours");
    book.remember("provider", grant);
    expect(book.live("provider")).toEqual([]);
  });

  test("is a new life when the same key was used again a day later, also when the end was missed", () => {
    const nextDay = { ...grant, createdAt: "2036-01-01T00:00:00Z", generation: 1 };
    const [missed, heard] = [bookOf(), bookOf()];
    for (const book of [missed, heard]) book.learn("requester", active);
    heard.learn("requester", released);
    for (const book of [missed, heard]) {
      expect(book.learn("requester", nextDay)).toBe("changed");
      expect(book.live("requester").map(({ reservation }) => reservation.createdAt)).toEqual([
        nextDay.createdAt,
      ]);
      expect(book.learn("requester", released)).toBe("old");
    }
  });

  test("is told to listeners when it changes something", () => {
    const book = bookOf();
    const heard: string[] = [];
    book.onChange((role, changed) => heard.push(`${role} ${changed}`));
    book.learn("requester", grant);
    book.learn("requester", grant);
    book.markUnknown(id);
    book.markUnknown(id);
    expect(heard).toEqual([`requester ${id}`, `requester ${id}`]);
  });
});

describe("an end", () => {
  test("is final: a late word from before does not bring it back", () => {
    const book = bookOf();
    book.learn("requester", released);
    expect(book.learn("requester", active)).toBe("old");
    expect(book.live("requester")).toEqual([]);
  });

  test("is final with brokers that count no generations, too", () => {
    const book = bookOf();
    const { generation: _, ...uncounted } = grant;
    const over: ReservationDTO = { ...uncounted, status: { phase: "Released", message: "" } };
    book.learn("requester", uncounted);
    book.learn("requester", over);
    expect(book.learn("requester", uncounted)).toBe("old");
    expect(book.live("requester")).toEqual([]);
  });

  test("and everything else keeps the key that a broker does not repeat", () => {
    const book = bookOf();
    book.learn("requester", grant);
    const { key: _, ...keyless } = grant;
    expect(book.learn("requester", { ...keyless, generation: 2 })).toBe("changed");
    expect(book.learn("requester", { ...keyless, generation: 2 })).toBe("same");
    expect(book.ofRequest(UID).get(1)?.reservation.generation).toBe(2);
  });

  test("decided here alone is taken back by newer news, and not by old", () => {
    const book = bookOf();
    book.learn("requester", grant);
    book.endHere(id, "Expired");
    expect(book.get("requester", id)?.reservation).toMatchObject({
      status: { phase: "Released", message: "Released (Expired)" },
      reason: "Expired",
    });
    expect(book.learn("requester", grant)).toBe("old");
    expect(book.live("requester")).toEqual([]);
    expect(book.learn("requester", active)).toBe("changed");
    expect(book.live("requester")).toHaveLength(1);
  });

  test("is remembered for a day", () => {
    const clock = { now: 0 };
    const book = bookOf("rome", clock);
    book.learn("requester", released);
    clock.now = REMEMBER_ENDED_MS - 1;
    book.tidy();
    expect(book.get("requester", id)).toBeDefined();
    clock.now = REMEMBER_ENDED_MS + 1;
    book.tidy();
    expect(book.get("requester", id)).toBeUndefined();
    expect(book.ofRequest(UID).size).toBe(0);
  });
});

test("what lives is never forgotten, however long nobody spoke of it", () => {
  const clock = { now: 0 };
  const book = bookOf("rome", clock);
  book.learn("requester", grant);
  clock.now = 10 * REMEMBER_ENDED_MS;
  book.tidy();
  expect(book.live("requester")).toHaveLength(1);
  expect(book.ofRequest(UID).size).toBe(1);
});

describe("what an instruction in the cluster says", () => {
  test("counts until the broker speaks", () => {
    const book = bookOf();
    book.remember("requester", grant);
    expect(book.get("requester", id)?.standing).toBe("remembered");
    book.learn("requester", grant);
    expect(book.get("requester", id)?.standing).toBe("confirmed");
    book.remember("requester", grant);
    expect(book.get("requester", id)?.standing).toBe("confirmed");
  });

  test("is replaced by whatever a broker says that counts anew", () => {
    const book = bookOf();
    book.remember("requester", active);
    expect(book.learn("requester", grant)).toBe("changed");
    expect(book.get("requester", id)).toMatchObject({ standing: "confirmed", reservation: grant });
  });

  test("is kept when the broker does not know it", () => {
    const book = bookOf();
    book.remember("requester", grant);
    book.markUnknown(id);
    expect(book.live("requester")).toMatchObject([{ standing: "unknown" }]);
  });
});

describe("a broker with another ledger", () => {
  test("has confirmed nothing yet, and counts generations anew", () => {
    const book = bookOf();
    book.learn("requester", active);
    book.doubt();
    expect(book.live("requester")).toMatchObject([{ standing: "remembered" }]);
    expect(book.learn("requester", grant)).toBe("changed");
    expect(book.get("requester", id)).toMatchObject({ standing: "confirmed", reservation: grant });
  });

  test("does not bring back what has ended", () => {
    const book = bookOf();
    book.learn("requester", released);
    book.doubt();
    expect(book.learn("requester", grant)).toBe("old");
    expect(book.live("requester")).toEqual([]);
  });

  test("that took a forgotten reservation in is believed", () => {
    const book = bookOf();
    book.learn("requester", active);
    book.markUnknown(id);
    expect(book.learn("requester", grant)).toBe("changed");
    expect(book.get("requester", id)?.standing).toBe("confirmed");
  });
});

test("reservations are found by the request they were made for, attempt by attempt", () => {
  const book = bookOf();
  book.learn("requester", ended("ProviderRefused"));
  book.learn("requester", aReservation({ id: "rsv-rome-second", key: `${UID}-2` }));
  book.learn("requester", aReservation({ id: "rsv-rome-other", key: "made-by-hand" }));
  expect([...book.ofRequest(UID).keys()]).toEqual([1, 2]);
  expect(book.ofRequest(UID).get(2)?.reservation.id).toBe("rsv-rome-second");
  expect(book.ofRequest("somebody else").size).toBe(0);
});
