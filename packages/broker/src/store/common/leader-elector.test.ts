import { fakeClock, settle } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { isLeaseValid, leaderElector, type LeaseResult, leaseTime } from "./leader-elector.ts";

const LEASE_MS = 6000;
const RENEWED = { monotonicMs: 1000, wallMs: 1_767_614_400_000 };

describe("a lease", () => {
  test.each([
    { name: "was just renewed", monotonicMs: 0, wallMs: 0, held: true },
    { name: "is nearly over", monotonicMs: 5999, wallMs: 5999, held: true },
    { name: "is over", monotonicMs: 6000, wallMs: 6000, held: false },
    { name: "is over by the monotonic clock alone", monotonicMs: 6000, wallMs: 5900, held: false },
    { name: "is over by the wall clock alone", monotonicMs: 5900, wallMs: 6000, held: false },
    { name: "is held while clocks are slewed", monotonicMs: 2000, wallMs: 2300, held: true },
    { name: "is in doubt after a suspension", monotonicMs: 10, wallMs: 600_010, held: false },
    { name: "is in doubt after a short suspension", monotonicMs: 10, wallMs: 1100, held: false },
    {
      name: "is in doubt when the wall clock is set back",
      monotonicMs: 2000,
      wallMs: -3_600_000,
      held: false,
    },
  ])("$name", ({ monotonicMs, wallMs, held }) => {
    const now = { monotonicMs: RENEWED.monotonicMs + monotonicMs, wallMs: RENEWED.wallMs + wallMs };
    expect(isLeaseValid(RENEWED, now, LEASE_MS)).toBe(held);
  });

  test("is released after the renewal that is under way, which would acquire it again", async () => {
    const clock = fakeClock();
    const calls: string[] = [];
    const held = (): LeaseResult => ({ isHeld: true, sentAt: leaseTime(clock), wasHeld: true });
    let answer = (_result: LeaseResult): void => undefined;
    const renewal = new Promise<LeaseResult>((resolve) => {
      answer = resolve;
    });
    const acquire = (): Promise<LeaseResult> => Promise.resolve(held());
    const elector = leaderElector({
      lease: {
        tryAcquire: acquire,
        poll: acquire,
        renew: () => renewal.finally(() => calls.push("renewed")),
        release: () => Promise.resolve(void calls.push("released")),
        server: "the test",
      },
      leaseMs: LEASE_MS,
      clock,
      onError: String,
    });
    await elector.tryLead();
    await clock.advance(LEASE_MS / 2);
    const released = elector.release();
    await settle();
    expect(calls).toEqual([]);
    answer(held());
    await released;
    expect(calls).toEqual(["renewed", "released"]);
  });
});
