import fc from "fast-check";
import { expect, test } from "vitest";
import { ChangeLog } from "./changed.ts";

/** The names that each commit touched; commits are numbered from 1. */
const commits = fc.array(fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { maxLength: 3 }), {
  maxLength: 30,
});

test("what is remembered of the last changes is all of it, or nothing", () => {
  fc.assert(
    fc.property(
      commits,
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 0, max: 31 }),
      fc.integer({ min: 0, max: 31 }),
      (all, capacity, since, upTo) => {
        const log = new ChangeLog(capacity, { commit: 0, at: 0 });
        for (const [index, names] of all.entries()) {
          const changed = { clusters: new Set<string>(), reservations: new Set(names), decisions: [] };
          log.add(index + 1, (index + 1) * 10, changed);
        }
        const missed = log.between(since, upTo);
        const sizes = all.map((names) => 1 + names.length);
        const fits = sizes.slice(since).reduce((sum, size) => sum + size, 0) <= capacity;
        expect(missed !== undefined).toBe(since >= all.length || fits);
        if (missed === undefined) return;
        const wanted = new Set(all.slice(since, upTo).flat());
        expect([...missed.changed.reservations].sort()).toEqual([...wanted].sort());
        if (since <= Math.min(all.length, upTo)) expect(missed.since).toBe(since * 10);
      },
    ),
  );
});
