import { Fault } from "@resource-broker/base";
import { fakeClock, settle } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { rateLimiter } from "./rate-limiter.ts";

function world() {
  const time = fakeClock();
  const lines: string[] = [];
  const log = {
    info: (_: unknown, message: string) => void lines.push(message),
    warn: (_: unknown, message: string) => void lines.push(message),
    error: (_: unknown, message: string) => void lines.push(message),
  };
  const limited = rateLimiter({ perSecond: 10, burst: 2 }, { clock: time, random: () => 0.999, log });
  const done: { what: string; atMs: number }[] = [];
  const write = (what: string) => () => {
    done.push({ what, atMs: time.monotonicMs() - 1000 });
    return Promise.resolve();
  };
  return { time, lines, limiter: limited, done, write };
}

const away = () => Promise.reject(new Fault("unreachable", "away"));

describe("the pace of writes", () => {
  test("lets a small burst pass, and then one after the other in the order they came", async () => {
    const { time, limiter, done, write } = world();
    const queue = limiter.queue("a");
    for (const name of ["1", "2", "3", "4"]) void queue.run(write(name));
    await time.advance(1000);
    expect(done).toEqual([
      { what: "1", atMs: 0 },
      { what: "2", atMs: 0 },
      { what: "3", atMs: 100 },
      { what: "4", atMs: 200 },
    ]);
    expect(queue.isBusy()).toBe(false);
  });

  test("saves up no more than the burst, however long the rest was", async () => {
    const { time, limiter, done, write } = world();
    const queue = limiter.queue("a");
    await time.advance(60_000);
    for (let each = 0; each < 30; each++) void queue.run(write(String(each)));
    await time.advance(1000);
    expect(done.length).toBeLessThanOrEqual(12);
  });

  test("lets two lanes take turns", async () => {
    const { time, limiter, done, write } = world();
    const [long, short] = [limiter.queue("long"), limiter.queue("short")];
    for (let each = 0; each < 50; each++) void long.run(write("long"));
    for (let each = 0; each < 3; each++) void short.run(write("short"));
    await time.advance(700);
    expect(done.filter(({ what }) => what === "short")).toHaveLength(3);
  });

  test("pauses a queue that fails with a server fault, tries with one at a time, and reports it once", async () => {
    const { time, limiter, done, write, lines } = world();
    const [bad, good] = [limiter.queue("bad"), limiter.queue("good")];
    let tries = 0;
    const tryIt = () => {
      tries++;
      return away();
    };
    const failures = Array.from({ length: 100 }, () => bad.run(tryIt).catch((error: Fault) => error.code));
    await time.advance(60_000);
    expect(tries).toBeGreaterThan(5);
    expect(tries).toBeLessThan(20);
    expect(lines).toEqual(["bad fails: away; retrying"]);
    void good.run(write("good"));
    await settle();
    expect(done.map(({ what }) => what)).toEqual(["good"]);
    limiter.close();
    expect(new Set(await Promise.all(failures))).toEqual(new Set(["unreachable", "overloaded"]));
  });

  test("continues at full speed when it works again", async () => {
    const { time, limiter, done, write, lines } = world();
    const queue = limiter.queue("a");
    await expect(queue.run(away)).rejects.toThrow("away");
    for (let each = 0; each < 5; each++) void queue.run(write(String(each)));
    await time.advance(2000);
    expect(done).toHaveLength(5);
    expect(lines.at(-1)).toBe("a works again");
  });

  test("waits as long as the server asks for", async () => {
    const { time, limiter, done, write } = world();
    const queue = limiter.queue("a");
    const busy = new Fault("rate-limited", "slower", { details: { retryAfterMs: 7000 } });
    await expect(queue.run(() => Promise.reject(busy))).rejects.toThrow("slower");
    void queue.run(write("next"));
    await time.advance(10_000);
    expect(done).toEqual([{ what: "next", atMs: 7000 }]);
  });

  test("does not pause after a fault that concerns one object only", async () => {
    const { time, limiter, done, write, lines } = world();
    const queue = limiter.queue("a");
    await expect(queue.run(() => Promise.reject(new Fault("conflict", "faster")))).rejects.toThrow("faster");
    void queue.run(write("next"));
    await time.advance(200);
    expect(done).toHaveLength(1);
    expect(lines).toEqual([]);
  });

  test("refuses everything once it is closed", async () => {
    const { limiter, write } = world();
    const queue = limiter.queue("a");
    limiter.close();
    await expect(queue.run(write("late"))).rejects.toMatchObject({ code: "overloaded" });
  });
});
