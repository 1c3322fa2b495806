import { Fault } from "@resource-broker/base";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { idMaker, orderedDecisions } from "../shared/make-ids.ts";
import { RateLimit } from "./authorize.ts";
import { firstAfter } from "./query.ts";
import { parseJson } from "./read-body.ts";

describe("the first names after one", () => {
  test("are what sorting everything would give", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string()),
        fc.string(),
        fc.integer({ min: 1, max: 10 }),
        (names, after, limit) => {
          const expected = names
            .filter((name) => name > after)
            .sort()
            .slice(0, limit);
          expect(firstAfter(names, after, limit)).toEqual(expected);
        },
      ),
    );
  });
});

describe("the rate of one cluster", () => {
  test("over any time is at most the burst and what was earned since", () => {
    const steps = fc.array(fc.nat({ max: 500 }), { maxLength: 200 });
    fc.assert(
      fc.property(steps, (waits) => {
        const limit = new RateLimit({ perSecond: 10, burst: 5 });
        let now = 0;
        let taken = 0;
        for (const wait of waits) {
          now += wait;
          if (limit.take("rome", now) === 0) taken++;
        }
        expect(taken).toBeLessThanOrEqual(5 + (now * 10) / 1000);
      }),
    );
  });
});

describe("JSON", () => {
  test("nothing but a Fault is ever thrown", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          parseJson(Buffer.from(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
        }
      }),
    );
  });

  test("of a name that stands twice the last one counts", () => {
    expect(parseJson(Buffer.from('{"a":1,"a":2}'))).toEqual({ a: 2 });
  });
});

describe("names", () => {
  const ids = idMaker((size) => new Uint8Array(size).fill(7));

  test("the same key of the same requester makes the same id, on every broker", () => {
    expect(ids.reservation("rome", "k1")).toBe("rsv-rome-jbpfax2gmkxrd6cz");
    expect(ids.reservation("rome", "k2")).not.toBe(ids.reservation("rome", "k1"));
    expect(ids.reservation("paris", "k1").slice(-16)).not.toBe(ids.reservation("rome", "k1").slice(-16));
  });

  test("decisions are called in the order they are made, and no two alike, even while the clock stands or goes back", () => {
    let now = Date.UTC(2026, 0, 5, 12);
    let drawn = 0;
    const decision = orderedDecisions(
      () => now,
      (size) => Buffer.alloc(size, 255 - drawn++),
    );
    const made: string[] = [];
    for (const passedMs of [0, 0, 1, 0, -5, 0, 5, 1_000_000_000_000]) {
      now += passedMs;
      made.push(decision(), decision());
    }
    for (const id of made) expect(id).toMatch(/^dec-[0-9a-f]{16}$/);
    expect(new Set(made).size).toBe(made.length);
    expect(made.toSorted()).toEqual(made);
  });
});
