import { fakeClock, settle } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { recordedLog } from "../../testing/recorded-log.ts";
import { type Job, type JobResult, peeringJobRunner } from "./peering-job-runner.ts";

const FAILURE = { reason: "PeeringFailed", message: "no route" };

function world() {
  const clock = fakeClock();
  const lines: string[] = [];
  const jobs = peeringJobRunner({ clock, log: recordedLog(lines) });
  const ends: ((end: JobResult) => void)[] = [];
  const signals: AbortSignal[] = [];
  const job = (kind: Job["kind"] = "peer"): Job => ({
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
  return { clock, jobs, job, ends, signals, end, state: () => jobs.state("paris") };
}

describe("liqoctl beside everything else", () => {
  test("runs once for a provider, however many ask", async () => {
    const { jobs, job, ends, state, end } = world();
    expect(state()).toEqual({ kind: "none" });
    jobs.start("paris", job());
    jobs.start("paris", job());
    jobs.start("paris", job("unpeer"));
    expect(ends).toHaveLength(1);
    expect(state()).toMatchObject({ kind: "running", job: "peer" });
    jobs.start("oslo", job());
    expect(ends).toHaveLength(2);
    ends[0]?.(undefined);
    await end(undefined);
    expect(state()).toMatchObject({ kind: "done", job: "peer" });
  });

  test("is tried again after a pause that grows", async () => {
    const { jobs, job, clock, state, end } = world();
    const pauses: number[] = [];
    for (let times = 1; times <= 6; times++) {
      jobs.start("paris", job());
      await end(FAILURE);
      const now = state();
      if (now.kind !== "failed") throw new Error(now.kind);
      expect(now).toMatchObject({ times, obstacle: FAILURE });
      pauses.push(now.retryInMs);
      await clock.advance(now.retryInMs);
      expect(state()).toMatchObject({ retryInMs: 0 });
    }
    expect(pauses).toEqual([30_000, 60_000, 120_000, 240_000, 300_000, 300_000]);
  });

  test("counts failures of one kind only", async () => {
    const { jobs, job, state, end } = world();
    jobs.start("paris", job());
    await end(FAILURE);
    jobs.start("paris", job("unpeer"));
    await end(FAILURE);
    expect(state()).toMatchObject({ job: "unpeer", times: 1 });
  });

  test("that hangs is killed, and not waited for", async () => {
    const { jobs, job, clock, state, signals } = world();
    jobs.start("paris", job());
    await clock.advance(59_999);
    expect(state()).toMatchObject({ kind: "running" });
    await clock.advance(1);
    expect(state()).toMatchObject({ kind: "failed", obstacle: { reason: "LiqoctlTimedOut" } });
    expect(signals[0]?.aborted).toBe(true);
  });

  test("is ended when nobody needs it, and when the agent stops", async () => {
    const { jobs, job, state, signals } = world();
    jobs.abort("paris");
    jobs.start("paris", job());
    jobs.abort("paris");
    await settle();
    expect(state()).toMatchObject({ kind: "failed", obstacle: { reason: "Aborted" } });
    jobs.start("paris", job());
    await jobs.stop();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  test("that breaks fails like any other", async () => {
    const { jobs, state } = world();
    jobs.start("paris", { kind: "peer", timeoutMs: 1000, work: () => Promise.reject(new Error("a bug")) });
    await settle();
    expect(state()).toMatchObject({ kind: "failed", obstacle: { message: "a bug" } });
  });

  test("is forgotten when it is over, not before", async () => {
    const { jobs, job, state, end } = world();
    jobs.start("paris", job());
    jobs.forget("paris");
    expect(state()).toMatchObject({ kind: "running" });
    await end(undefined);
    jobs.forget("paris");
    expect(state()).toEqual({ kind: "none" });
  });
});
