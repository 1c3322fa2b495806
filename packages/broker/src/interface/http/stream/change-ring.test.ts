import type { Reservation } from "@resource-broker/domain";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ChangeRing } from "./change-ring.ts";

/** A change is told apart by its generation here; the ring looks at nothing of it. */
const change = (generation: number): Reservation => ({ id: "rsv-rome-a", generation }) as Reservation;
const generations = (changes: readonly Reservation[] | undefined) =>
  changes?.map(({ generation }) => generation);

describe("the ring of changes", () => {
  test("gives what came after a commit, oldest first", () => {
    const ring = new ChangeRing(10, 4);
    for (const commit of [5, 6, 6, 7]) ring.add(commit, change(commit));
    expect(generations(ring.since(4))).toEqual([5, 6, 6, 7]);
    expect(generations(ring.since(5))).toEqual([6, 6, 7]);
    expect(generations(ring.since(7))).toEqual([]);
  });

  test("does not know what was before it began", () => {
    expect(new ChangeRing(10, 4).since(3)).toBeUndefined();
    expect(new ChangeRing(10, 4).since(4)).toEqual([]);
  });

  test("never gives a part of what was missed: either all of it, or nothing", () => {
    const commits = fc.array(fc.nat({ max: 2 }), { maxLength: 40 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), commits, fc.nat({ max: 50 }), (capacity, steps, since) => {
        const ring = new ChangeRing(capacity, 0);
        let commit = 0;
        const all = steps.map((step) => {
          commit += step;
          ring.add(commit, change(commit));
          return commit;
        });
        const missed = all.filter((number) => number > since);
        const given = generations(ring.since(since));
        if (given !== undefined) expect(given).toEqual(missed);
        else expect(all.length).toBeGreaterThan(capacity);
      }),
    );
  });
});
