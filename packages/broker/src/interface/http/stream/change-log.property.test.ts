import fc from "fast-check";
import { expect, test } from "vitest";
import { ChangeLog } from "./change-log.ts";

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
        const log = new ChangeLog<readonly string[]>(capacity, { commit: 0, at: 0 });
        for (const [index, names] of all.entries()) {
          log.add({ commit: index + 1, at: (index + 1) * 10 }, names, 1 + names.length);
        }
        const missed = log.between(since, upTo);
        const sizes = all.map((names) => 1 + names.length);
        const fits = sizes.slice(since).reduce((sum, size) => sum + size, 0) <= capacity;
        expect(missed !== undefined).toBe(since >= all.length || fits);
        if (missed === undefined) return;
        const wanted = new Set(all.slice(since, upTo).flat());
        expect(new Set(missed.changes.flat())).toEqual(wanted);
        if (since <= Math.min(all.length, upTo)) expect(missed.since).toBe(since * 10);
      },
    ),
  );
});
