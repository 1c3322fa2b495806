import { fakeClock } from "@resource-broker/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { recordedLog } from "../testing/recorded-log.ts";
import { delayQueue } from "./delay-queue.ts";
import { fifo, type WorkQueueOptions, type WorkResult, workQueue } from "./work-queue.ts";

const DONE: WorkResult = { kind: "done" };

/** A queue whose work takes `workMs` and ends as `ends` says, in turn. */
function world({
  workMs = 100,
  ends = [] as WorkResult[],
  ...options
}: Partial<WorkQueueOptions> & { workMs?: number; ends?: WorkResult[] } = {}) {
  const time = fakeClock();
  const story: string[] = [];
  const depths: number[] = [];
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
      observer: { onDepth: (depth) => depths.push(depth), onRetry: (key) => retries.push(key) },
    },
  );
  return { time, queue, story, depths, retries, log };
}

describe("a work queue", () => {
  test("works on one key after the other, in their order", async () => {
    const { time, queue, story } = world();
    for (const key of ["a", "b"]) queue.add(key);
    await time.advance(1000);
    expect(story).toEqual(["0 a begins", "100 a ends", "100 b begins", "200 b ends"]);
  });

  test("works on several keys at once, as many as it may", async () => {
    const { time, queue, story } = world({ concurrency: 2 });
    for (const key of ["a", "b", "c"]) queue.add(key);
    await time.advance(1000);
    expect(story.filter((line) => line.endsWith("begins"))).toEqual([
      "0 a begins",
      "0 b begins",
      "100 c begins",
    ]);
  });

  test("does not add a key that waits already", async () => {
    const { time, queue, story } = world();
    for (const key of ["a", "b", "b", "b"]) queue.add(key);
    await time.advance(1000);
    expect(story.filter((line) => line.endsWith("b begins"))).toHaveLength(1);
  });

  test("comes again, and not meanwhile, to a key that is added while it is worked on", async () => {
    const { time, queue, story } = world({ concurrency: 5 });
    queue.add("a");
    await time.advance(50);
    queue.add("a");
    queue.add("a");
    await time.advance(1000);
    expect(story).toEqual(["0 a begins", "100 a ends", "100 a begins", "200 a ends"]);
  });

  test("lets the earliest of several delays win", async () => {
    const { time, queue, story } = world();
    queue.addAfter("a", 500);
    queue.addAfter("a", 300);
    queue.addAfter("a", 800);
    queue.addAfter("b", 200);
    await time.advance(5000);
    expect(story.filter((line) => line.endsWith("begins"))).toEqual(["200 b begins", "300 a begins"]);
  });

  test("comes back later when the work says so", async () => {
    const { time, queue, story, retries } = world({ ends: [{ kind: "later", afterMs: 5000 }] });
    queue.add("a");
    await time.advance(10_000);
    expect(story.filter((line) => line.endsWith("begins"))).toEqual(["0 a begins", "5100 a begins"]);
    expect(retries).toEqual([]);
  });

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

  test("waits at least as long as the failure asks for", async () => {
    const { time, queue, story } = world({ workMs: 0, ends: [{ kind: "retry", minMs: 7000 }] });
    queue.add("a");
    await time.advance(6999);
    expect(story).toHaveLength(2);
    await time.advance(1);
    expect(story).toHaveLength(4);
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

  test("tells how many wait", async () => {
    const { time, queue, depths } = world();
    for (const key of ["a", "b", "c"]) queue.add(key);
    expect(queue.depth()).toBe(2);
    await time.advance(1000);
    expect(depths.at(-1)).toBe(0);
    expect(Math.max(...depths)).toBe(2);
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
          expect({ offences: violations, open: [...open], depth: queue.depth() }).toEqual({
            offences: [],
            open: [],
            depth: 0,
          });
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe("the delays of a queue", () => {
  test("come in the order of their moments, each key once, with the earliest of its own", () => {
    const step = fc.oneof(
      fc.record({ key: fc.constantFrom("a", "b", "c", "d", "e", "f", "g"), at: fc.nat(50) }),
      fc.constant("take" as const),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const heap = delayQueue();
        const model = new Map<string, number>();
        const take = () => {
          const due = heap.take();
          expect(due?.at).toBe(model.size === 0 ? undefined : Math.min(...model.values()));
          if (due === undefined) return;
          expect(model.get(due.key)).toBe(due.at);
          model.delete(due.key);
        };
        for (const each of steps) {
          if (each === "take") {
            take();
          } else {
            heap.set(each.key, each.at);
            model.set(each.key, Math.min(each.at, model.get(each.key) ?? each.at));
          }
        }
        while (model.size > 0) take();
        expect(heap.earliest()).toBeUndefined();
      }),
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
