import { fakeClock, settle } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { recordedLog } from "../../testing/recorded-log.ts";
import { type Job, type JobResult, peeringJobRunner } from "./peering-job-runner.ts";

const FAILURE = { reason: "PeeringFailed", message: "no route" };

function world() {
  const clock = fakeClock();
  const runner = peeringJobRunner({ clock, log: recordedLog([]) });
  const ends: ((end: JobResult) => void)[] = [];
  const signals: AbortSignal[] = [];
  const start = (kind: Job["kind"] = "peer", liqoId = "paris"): void =>
    runner.start(liqoId, {
      kind,
      timeoutMs: 60_000,
      work: (signal) => {
        signals.push(signal);
        return new Promise((resolve) => void ends.push(resolve));
      },
    });
  const end = async (how: JobResult) => {
    ends.at(-1)?.(how);
    await settle();
  };
  return { clock, runner, start, ends, signals, end, state: () => runner.state("paris") };
}

describe("liqoctl beside everything else", () => {
  test("runs once for a provider, however many ask, and is forgotten when it is over, not before", async () => {
    const { runner, start, ends, state } = world();
    expect(state()).toEqual({ kind: "none" });
    for (const kind of ["peer", "peer", "unpeer"] as const) start(kind);
    start("peer", "oslo");
    expect(ends).toHaveLength(2);
    runner.forget("paris");
    expect(state()).toMatchObject({ kind: "running", job: "peer" });
    ends[0]?.(undefined);
    await settle();
    expect(state()).toMatchObject({ kind: "done", job: "peer" });
    runner.forget("paris");
    expect(state()).toEqual({ kind: "none" });
  });

  test("is tried again after a pause that grows with the failures of one kind", async () => {
    const { start, clock, state, end } = world();
    const pauses: number[] = [];
    for (let times = 1; times <= 6; times++) {
      start();
      await end(FAILURE);
      const now = state();
      if (now.kind !== "failed") throw new Error(now.kind);
      expect(now).toMatchObject({ times, obstacle: FAILURE });
      pauses.push(now.retryInMs);
      await clock.advance(now.retryInMs);
      expect(state()).toMatchObject({ retryInMs: 0 });
    }
    expect(pauses).toEqual([30_000, 60_000, 120_000, 240_000, 300_000, 300_000]);
    start("unpeer");
    await end(FAILURE);
    expect(state()).toMatchObject({ job: "unpeer", times: 1 });
  });

  test("that hangs is killed, and not waited for", async () => {
    const { start, clock, state, signals } = world();
    start();
    await clock.advance(59_999);
    expect(state()).toMatchObject({ kind: "running" });
    await clock.advance(1);
    expect(state()).toMatchObject({ kind: "failed", obstacle: { reason: "LiqoctlTimedOut" } });
    expect(signals[0]?.aborted).toBe(true);
  });

  test("is ended when nobody needs it, and when the agent stops", async () => {
    const { runner, start, state, signals } = world();
    runner.abort("paris");
    start();
    runner.abort("paris");
    await settle();
    expect(state()).toMatchObject({ kind: "failed", obstacle: { reason: "Aborted" } });
    start();
    await runner.stop();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  test("that breaks fails like any other", async () => {
    const { runner, state } = world();
    runner.start("paris", { kind: "peer", timeoutMs: 1000, work: () => Promise.reject(new Error("a bug")) });
    await settle();
    expect(state()).toMatchObject({ kind: "failed", obstacle: { message: "a bug" } });
  });
});
