import { Fault } from "@resource-broker/base";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { recordedLog } from "../testing/recorded-log.ts";
import { type ReconcileLoopOptions, type ReconcileResult, reconcileLoop } from "./reconciler.ts";

interface Plan extends ReconcileResult {
  readonly actions: readonly number[];
}
interface Options extends Pick<ReconcileLoopOptions, "resync"> {
  readonly plan?: (state: { want: number; have: number }) => Plan;
}

/** One action for each step from what there is to what is wanted. */
const stepByStep: NonNullable<Options["plan"]> = ({ want, have }) => ({
  actions: Array.from({ length: Math.max(0, want - have) }, (_, step) => have + step + 1),
});

/** Counters that are to be brought, step by step, to what is wanted. */
function world({ plan = stepByStep, ...options }: Options = {}) {
  const time = fakeClock();
  const log = recordedLog();
  const want = new Map<string, number>();
  const have = new Map<string, number>();
  const rounds: number[] = [];
  /** What the next applies throw. */
  const failures: Error[] = [];
  const reconcile = async (key: string): Promise<ReconcileResult> => {
    rounds.push(time.monotonicMs() - 1000);
    const planned = plan({ want: want.get(key) ?? 0, have: have.get(key) ?? 0 });
    for (const value of planned.actions) {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      have.set(key, value);
    }
    return planned;
  };
  const counters = reconcileLoop(
    { name: "counter", reconcile, ...options },
    { clock: time, random: () => 0.5, log },
  );
  return { time, log, want, have, rounds, failures, counters };
}

const many = (count: number, make: () => Error) => Array.from({ length: count }, make);

describe("a reconciler", () => {
  test("looks at the state again after a failure, and does only what is left", async () => {
    const { time, want, have, failures, counters, log } = world();
    want.set("a", 3);
    failures.push(new Fault("conflict", "somebody was faster"));
    counters.enqueue("a");
    await time.advance(1);
    expect(have.get("a")).toBeUndefined();
    have.set("a", 1);
    await time.advance(1000);
    expect(have.get("a")).toBe(3);
    expect(log.lines).toEqual([]);
  });

  test("looks again after a time when the plan asks for it, and that is no failure", async () => {
    const { time, rounds, counters, log } = world({
      plan: ({ have }) => ({ actions: [have + 1], ...(have < 2 ? { requeueAfterMs: 60_000 } : {}) }),
    });
    counters.enqueue("a");
    await time.advance(600_000);
    expect(rounds).toEqual([0, 60_000, 120_000]);
    expect(log.lines).toEqual([]);
  });

  test("tells once of a failure that time will not mend, and again when it changes or is over", async () => {
    const { time, want, failures, counters, log, rounds } = world();
    want.set("a", 1);
    failures.push(
      ...many(8, () => new Error("bad size")),
      ...many(4, () => new Fault("forbidden", "no right")),
    );
    counters.enqueue("a");
    await time.advance(3_600_000);
    expect(log.lines).toEqual([
      "error reconciling counter a fails: bad size",
      "error reconciling counter a fails: no right",
      "info reconciling counter a works again",
    ]);
    expect(rounds).toHaveLength(13);
  });

  test.each([
    ["may work soon", () => new Fault("unreachable", "away"), 30_000],
    ["will hardly work by itself", () => new Fault("invalid", "bad"), 300_000],
  ])("never waits longer than it should for what %s", async (_, make, maxMs) => {
    const { time, want, failures, counters, rounds } = world();
    want.set("a", 1);
    failures.push(...many(40, make));
    counters.enqueue("a");
    await time.advance(maxMs * 20);
    const pauses = rounds.slice(1).map((round, index) => round - (rounds[index] ?? 0));
    expect(Math.max(...pauses)).toBe(maxMs / 2);
  });

  test("looks at everything from time to time, for what no event told of", async () => {
    const { time, want, have, counters } = world({ resync: { everyMs: 60_000, keys: () => ["a", "b"] } });
    want.set("a", 1);
    await time.advance(60_000);
    expect(have.get("a")).toBe(1);
    want.set("b", 2);
    await time.advance(60_000);
    expect(have.get("b")).toBe(2);
    await counters.stop();
    want.set("a", 5);
    await time.advance(600_000);
    expect(have.get("a")).toBe(1);
  });
});
