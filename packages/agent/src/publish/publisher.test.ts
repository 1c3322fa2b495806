import { Fault, formatTime, resourceVector } from "@resource-broker/base";
import type { AdvertisementDTO } from "@resource-broker/contract";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { gate } from "../testing/call-fault.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { aReservation } from "../testing/samples.ts";
import { createPublisher, type Publication } from "./publisher.ts";
import { anAdvertisementInput, anObservation } from "./testing/samples.ts";

const MINUTE_MS = 60_000;

type Reply = Fault | Promise<unknown> | undefined;

function world({ random = 0.5, startMs = Date.UTC(2026, 6, 1, 10, 0, 7) } = {}) {
  const time = fakeClock(startMs);
  const log = recordedLog();
  const posts: { at: number; wall: string; body: AdvertisementDTO }[] = [];
  const publications: Publication[] = [];
  const instructions: string[] = [];
  const state = { cpuMillis: 10_000, underWay: 0, mostUnderWay: 0, instances: 0 };
  let answer: (post: number) => Reply = () => undefined;
  const input = () => {
    const allocated = resourceVector({ cpuMillis: state.cpuMillis });
    return anAdvertisementInput({ observation: anObservation({ allocated }), now: time.wallMs() });
  };
  const publisher = createPublisher(
    { intervalMs: 30_000 },
    {
      communicator: {
        publish: async (body) => {
          posts.push({ at: time.monotonicMs(), wall: formatTime(time.wallMs()).slice(11, 19), body });
          state.underWay++;
          state.mostUnderWay = Math.max(state.mostUnderWay, state.underWay);
          const reply = answer(posts.length);
          if (reply instanceof Promise) await reply;
          state.underWay--;
          if (reply instanceof Fault) throw reply;
          const resources = { ...body.resources, reserved: { cpu: "3", memory: "1Gi" } };
          return { advertisement: { ...body, resources }, instructions: [aReservation()] };
        },
      },
      input,
      newInstance: () => `instance-${++state.instances}`,
      clock: time,
      random: () => random,
      log,
      onPublished: (publication) => void publications.push(publication),
      onInstructions: (received) => void instructions.push(...received.map(({ id }) => id)),
    },
  );
  const use = (cpuMillis: number) => {
    state.cpuMillis = cpuMillis;
    publisher.trigger();
  };
  return {
    time,
    log,
    posts,
    publications,
    instructions,
    state,
    publisher,
    use,
    setAnswer: (next: typeof answer) => {
      answer = next;
    },
  };
}

const fault = (code: Fault["code"], retryAfterMs?: number) =>
  new Fault(code, code, retryAfterMs === undefined ? {} : { details: { retryAfterMs } });

describe("an advertisement", () => {
  test("carries what the broker last said is reserved, an instance and a growing number", async () => {
    const { time, posts, publisher, instructions } = world();
    publisher.start();
    await time.advance(MINUTE_MS);
    expect(posts.map(({ body }) => [body.instance, body.sequence, body.resources.reserved?.cpu])).toEqual([
      ["instance-1", 1, "0"],
      ["instance-1", 2, "3"],
      ["instance-1", 3, "3"],
    ]);
    expect(instructions).toHaveLength(3);
  });

  test("of a material change goes out, but not within 5 s of the last", async () => {
    const { time, posts, publisher, use } = world();
    publisher.start();
    await time.advance(1000);
    for (let step = 1; step <= 40; step++) {
      use(step % 2 === 0 ? 10_000 : 12_000);
      await time.advance(500);
    }
    const intervals = posts.slice(1).map(({ at }, index) => at - (posts[index]?.at ?? 0));
    expect(posts.length).toBeGreaterThan(2);
    expect(Math.min(...intervals)).toBeGreaterThanOrEqual(5000);
  });

  test("never overlaps another, and says what is true when it goes out", async () => {
    const { time, posts, publisher, use, state, setAnswer } = world();
    const slow = gate();
    setAnswer((post) => (post === 1 ? slow.passed : undefined));
    publisher.start();
    await time.advance(1000);
    use(60_000);
    await time.advance(MINUTE_MS);
    use(80_000);
    expect(posts).toHaveLength(1);
    slow.open();
    await time.advance(1000);
    expect(posts.map(({ body }) => body.resources.allocated.cpu)).toEqual(["10", "80"]);
    expect(state.mostUnderWay).toBe(1);
  });
});

describe("while the broker is away", () => {
  test.each([
    ["jitter at its most", 0.999],
    ["jitter in the middle", 0.5],
  ])("pauses grow up to half a minute, with %s", async (_, random) => {
    const { time, posts, publisher, setAnswer, use } = world({ random });
    setAnswer(() => fault("unreachable"));
    publisher.start();
    for (let step = 0; step < 600; step++) {
      use(10_000 + 500 * (step % 100));
      await time.advance(1000);
    }
    const intervals = posts.slice(1).map(({ at }, index) => at - (posts[index]?.at ?? 0));
    expect(Math.max(...intervals)).toBeLessThanOrEqual(30_000);
    expect(
      intervals
        .slice(0, 6)
        .every((interval, index) => index === 0 || interval >= (intervals[index - 1] ?? 0)),
    ).toBe(true);
    expect(intervals.at(-1)).toBeGreaterThanOrEqual(Math.floor(random * 30_000));
  });

  test("it is left alone for as long as it wants, however much changes", async () => {
    const { time, posts, publisher, setAnswer, use } = world();
    setAnswer(() => fault("rate-limited", 20_000));
    publisher.start();
    await time.advance(1000);
    use(90_000);
    await time.advance(18_000);
    expect(posts).toHaveLength(1);
    await time.advance(2000);
    expect(posts).toHaveLength(2);
  });
});

describe("an agent whose place another has taken", () => {
  test("says so, and tries again under a new name only after a minute", async () => {
    const { time, posts, publisher, setAnswer, log } = world();
    setAnswer((post) => (post === 2 ? fault("superseded") : undefined));
    publisher.start();
    await time.advance(30_000);
    expect(posts).toHaveLength(2);
    await time.advance(50_000);
    expect(posts).toHaveLength(2);
    await time.advance(10_000);
    expect(posts.map(({ body }) => body.instance)).toEqual(["instance-1", "instance-1", "instance-2"]);
    expect(log.lines.join()).toContain("--leader-elect");
  });
});

describe("stopping", () => {
  test("waits for the one under way, and sends no more", async () => {
    const { time, posts, publisher, use, setAnswer } = world();
    const slow = gate();
    setAnswer(() => slow.passed);
    publisher.start();
    await time.advance(1);
    let isStopped = false;
    const stopped = publisher.stop().then(() => {
      isStopped = true;
    });
    await time.advance(1000);
    expect(isStopped).toBe(false);
    slow.open();
    await stopped;
    use(90_000);
    await time.advance(5 * MINUTE_MS);
    expect(posts).toHaveLength(1);
  });
});
