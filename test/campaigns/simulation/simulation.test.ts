import { describe, expect, test } from "vitest";
import { simulate } from "./simulation.ts";

const OPERATIONS = 60;

describe("a simulated world", () => {
  test("is the same again from the same seed, step by step", async () => {
    const [first, again, other] = [
      await simulate(7, OPERATIONS),
      await simulate(7, OPERATIONS),
      await simulate(8, OPERATIONS),
    ];
    expect(again).toEqual(first);
    expect(other.tally).not.toEqual(first.tally);
  });

  test("keeps every promise while everything goes wrong, and comes to rest afterwards", async () => {
    const total = { kills: 0, powerFailures: 0, grants: 0, ends: 0, joins: 0, evictions: 0, histories: 0 };
    for (let seed = 1; seed <= 40; seed++) {
      const { failure, tally, counts, histories } = await simulate(seed, OPERATIONS);
      expect({ seed, problem: failure?.problem }).toEqual({ seed, problem: undefined });
      total.kills += tally.kills;
      total.powerFailures += tally.powerFailures;
      total.grants += counts.grants;
      total.ends += counts.ends;
      total.joins += counts.joins;
      total.evictions += counts.evictions;
      total.histories += histories;
    }
    // A world in which nothing happens keeps every promise as well.
    for (const [what, count] of Object.entries(total))
      expect({ what, isThere: count > 0 }).toEqual({ what, isThere: true });
  });

  test("two restarts with a clock that is behind: the newer advertisement still counts as the newer one", async () => {
    const { failure } = await simulate(357, 100);
    expect(failure?.problem).toBeUndefined();
  });

  test("a broker that stops with the commit of an eviction: who was evicted is told so truthfully", async () => {
    const { failure } = await simulate(5699, 100);
    expect(failure?.problem).toBeUndefined();
  });
});
