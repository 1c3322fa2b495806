import { seededRandom } from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { runHistories } from "../histories/run-histories.ts";
import { oneBroker } from "../one-broker.ts";

/** `SEED=…` repeats the choices of a run. */
const SEED = Number(process.env["SEED"] ?? 20_260_101);
/** Only a guard: real processes on a busy machine take their time. */
const GUARD = { timeout: 900_000 };

// The seed is part of every test's name: a failure prints it.
describe.each([SEED])("with seed %i", (seed) => {
  test(
    "what real clients see under kills, pauses and cuts is explained by one call after the other",
    GUARD,
    async () => {
      const target = await oneBroker();
      onTestFinished(target.dispose);
      const { violations, histories, strikes } = await runHistories(target, seededRandom(seed), {
        count: 4,
        from: 0,
      });
      expect(violations).toEqual([]);
      expect(histories).toBe(4);
      expect(strikes.length).toBeGreaterThan(0);
    },
  );
});
