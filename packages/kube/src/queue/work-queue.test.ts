import { fakeClock } from "@resource-broker/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { recordedLog } from "../testing/recorded-log.ts";
import { fifo, workQueue, type WorkQueueOptions, type WorkResult } from "./work-queue.ts";

const DONE: WorkResult = { kind: "done" };

/** A queue whose work takes `workMs` and ends as `ends` says, in turn. */
function world({
  workMs = 100,
  ends = [] as WorkResult[],
  ...options
}: Partial<WorkQueueOptions> & { workMs?: number; ends?: WorkResult[] } = {}) {
  const time = fakeClock();
  const story: string[] = [];
  const retries: string[] = [];
  const log = recordedLog();
  const at = () => time.monotonicMs() - 1000;
  const queue = workQueue(
    {
      work: async (key) => {
        story.push(`${at()} ${key} begins`);
        await new Promise<void>((resolve) => time.after(workMs, resolve));
        story.push(`${at()} ${key} ends`);
        return ends.shift() ?? DONE;
      },
      ...options,
    },
    {
      clock: time,
      random: () => 1 - Number.EPSILON,
      log,
      observer: { onRetry: (key) => retries.push(key) },
    },
  );
  return { time, queue, story, retries, log };
}

describe("a work queue", () => {
  test("retries with longer and longer pauses, and forgets that after a success", async () => {
    const retry: WorkResult = { kind: "retry" };
    const { time, queue, story, retries } = world({
      workMs: 0,
      maxBackoffMs: 400,
      ends: [retry, retry, retry, retry, DONE, retry],
    });
    queue.add("a");
    await time.advance(3000);
    queue.add("a");
    await time.advance(3000);
    const begins = story.filter((line) => line.endsWith("begins")).map((line) => Number.parseInt(line, 10));
    expect(begins).toEqual([0, 99, 298, 697, 1096, 3000, 3099]);
    expect(retries).toHaveLength(5);
    expect(queue.failures("a")).toBe(0);
  });

  test("does not let a pause of one key hold up another, nor news of the same key", async () => {
    const { time, queue, story } = world({ workMs: 0, ends: [{ kind: "retry", minMs: 60_000 }] });
    queue.add("a");
    await time.advance(10);
    queue.add("b");
    queue.add("a");
    await time.advance(10);
    expect(story.filter((line) => line.endsWith("begins"))).toEqual([
      "0 a begins",
      "10 b begins",
      "10 a begins",
    ]);
  });

  test("retries work that throws, and says that it is a bug", async () => {
    const { time, queue, log } = world({ work: () => Promise.reject(new Error("oops")) });
    queue.add("a");
    await time.advance(50);
    expect(log.lines).toEqual(["error processing a threw an unexpected error; this is a bug"]);
    expect(queue.failures("a")).toBe(1);
  });

  test("finishes what waits when it is stopped, and drops what is delayed or comes after", async () => {
    const { time, queue, story } = world({ ends: [DONE, { kind: "retry" }] });
    for (const key of ["a", "b"]) queue.add(key);
    queue.addAfter("late", 50);
    let isStopped = false;
    const stopped = queue.stop().then(() => {
      isStopped = true;
    });
    queue.add("c");
    await time.advance(199);
    expect(isStopped).toBe(false);
    await time.advance(1);
    await stopped;
    await time.advance(10_000);
    expect(story).toEqual(["0 a begins", "100 a ends", "100 b begins", "200 b ends"]);
  });

  test("never works on a key twice at once, and misses no addition, whatever comes when", async () => {
    const step = fc.record({
      key: fc.constantFrom("a", "b", "c", "d"),
      delayMs: fc.nat(300),
      thenMs: fc.nat(80),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 30 }),
        fc.integer({ min: 1, max: 3 }),
        async (steps, concurrency) => {
          const time = fakeClock();
          const running = new Set<string>();
          /** Added, and no work on them has begun since. */
          const open = new Set<string>();
          const violations: string[] = [];
          const queue = workQueue(
            {
              concurrency,
              work: async (key) => {
                if (running.has(key)) violations.push(`${key} twice at once`);
                running.add(key);
                if (running.size > concurrency) violations.push("too many at once");
                open.delete(key);
                await new Promise<void>((resolve) => time.after(37, resolve));
                running.delete(key);
                return DONE;
              },
            },
            { clock: time, random: () => 0, log: recordedLog() },
          );
          for (const { key, delayMs, thenMs } of steps) {
            open.add(key);
            queue.addAfter(key, delayMs);
            await time.advance(thenMs);
          }
          await time.advance(10_000);
          expect({ violations, open: [...open] }).toEqual({ violations: [], open: [] });
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe("the keys that wait", () => {
  test("come out as they went in, each once, also when there are many", () => {
    const keys = fifo();
    const count = 5000;
    for (let round = 0; round < 2; round++) {
      for (let key = 0; key < count; key++) keys.add(`key-${key}`);
    }
    expect(keys.size()).toBe(count);
    expect(Array.from({ length: count }, () => keys.take())).toEqual(
      Array.from({ length: count }, (_, key) => `key-${key}`),
    );
    expect([keys.take(), keys.size()]).toEqual([undefined, 0]);
  });
});
