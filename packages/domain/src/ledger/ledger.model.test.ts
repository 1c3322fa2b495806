import fc from "fast-check";
import { describe, test } from "vitest";
import { action, ModelRun } from "../testing/ledger-model.ts";
import { runs } from "../testing/runs.ts";

/** On average half as many are drawn: a hundred commands a run. */
const COMMANDS = 200;

describe("the ledger, driven by random commands under a random clock", () => {
  test("never double-books, never ends twice, never expires early, and rebuilds to itself (invariants 1, 3, 4, 5, 7)", () => {
    fc.assert(
      fc.property(fc.array(action, { minLength: 1, maxLength: COMMANDS, size: "max" }), (actions) => {
        const run = new ModelRun();
        for (const each of actions) run.perform(each);
        run.checkRebuild();
      }),
      runs(250, 10_000),
    );
  }, 3_600_000);
});
