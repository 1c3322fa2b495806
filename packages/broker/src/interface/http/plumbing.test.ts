import { Fault } from "@resource-broker/base";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { idMaker, orderedDecisions } from "../shared/make-ids.ts";
import { firstAfter } from "./first-after.ts";
import { parseJson } from "./json.ts";
import { RateLimit } from "./rate-limit.ts";
import type { Route } from "./route.ts";
import { createRouter } from "./router.ts";
import { checkKey } from "./routes/reservations.ts";

const handle = () => ({ status: 200 });
const route = (method: Route["method"], path: string): Route => ({ method, path, access: "cluster", handle });

describe("the router", () => {
  const router = createRouter([
    route("GET", "/a"),
    route("POST", "/a"),
    route("GET", "/a/{id}"),
    route("POST", "/a/{id}/do"),
    route("GET", "/b/{id}"),
  ]);
  test.each([
    ["GET", "/a", "GET /a", ""],
    ["POST", "/a", "POST /a", ""],
    ["GET", "/a/x", "GET /a/{id}", "x"],
    ["GET", "/a/x%2Fy", "GET /a/{id}", "x/y"],
    ["POST", "/a/x/do", "POST /a/{id}/do", "x"],
    ["GET", "/b/do", "GET /b/{id}", "do"],
  ])("%s %s is %s", (method, path, name, parameter) => {
    const match = router.match(method, path);
    expect(match.kind === "found" && `${match.route.method} ${match.route.path}`).toBe(name);
    expect(match).toMatchObject({ name: parameter });
  });

  test("knows which methods an address takes", () => {
    expect(router.match("PUT", "/a")).toEqual({ kind: "wrong-method", allow: "GET, POST" });
    expect(router.match("GET", "/a/x/do")).toEqual({ kind: "wrong-method", allow: "POST" });
  });

  test.each(["/", "", "/a/", "/a//do", "/a/x/", "/a/x/do/", "/a/x/y", "/c", "/a/x/do/it", "a"])(
    "%j is unknown",
    (path) => {
      expect(router.match("GET", path)).toEqual({ kind: "unknown" });
    },
  );
});

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

  test("waiting as long as it says is enough", () => {
    const limit = new RateLimit({ perSecond: 3, burst: 1 });
    expect(limit.take("rome", 0)).toBe(0);
    const wait = limit.take("rome", 100);
    expect(wait).toBeGreaterThan(0);
    expect(limit.take("rome", 100 + wait)).toBe(0);
  });

  test("is forgotten when it is calm, so that memory does not grow with names", () => {
    const limit = new RateLimit({ perSecond: 100, burst: 100 });
    for (let count = 0; count < 20_000; count++) limit.take(`cluster-${count}`, count * 10);
    expect(limit.size).toBeLessThan(5000);
  });
});

describe("JSON", () => {
  test("is parsed as JSON.parse does", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 20 }), (json) => {
        const bytes = Buffer.from(json);
        expect(JSON.stringify(parseJson(bytes))).toBe(JSON.stringify(JSON.parse(bytes.toString())));
      }),
    );
  });

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

  test("requester and key cannot be mixed up", () => {
    expect(ids.reservation("rome", "a").slice(-16)).not.toBe(ids.reservation("rom", "ea").slice(-16));
  });

  test("a decision has a DNS label", () => {
    expect(ids.decision()).toMatch(/^dec-[0-9a-f]{16}$/);
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

  test("keys are 1 to 128 visible characters", () => {
    for (const key of ["k", "a/b?c&d", "~".repeat(128), "!"]) expect(checkKey(key)).toBe(key);
    for (const key of ["", " ", "a b", "a\tb", "é", "\u007f", "k".repeat(129)])
      expect(() => checkKey(key)).toThrow("Idempotency-Key");
  });
});
