import { Fault, type FaultCode, type FaultDetails } from "@resource-broker/base";
import { type FakeClock, fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import type { Outcome } from "./attempts.ts";
import { createEndpoints, readBrokerUrls } from "./endpoints.ts";
import { createFailover, createSleeper, type Task } from "./failover.ts";
import { refusedCertificate } from "./reply.ts";

type Answer = Outcome<string>;

const ok: Answer = { kind: "answered", value: "ok" };

function fails(
  code: FaultCode,
  more: Partial<Extract<Answer, { kind: "failed" }>> = {},
  details: FaultDetails = {},
): Answer {
  return {
    kind: "failed",
    fault: new Fault(code, code, { details }),
    mayHaveArrived: true,
    wasStale: false,
    ...more,
  };
}

/** Brokers a, b, … that answer as told; by default all are well. */
function setup(names: string, random: () => number = () => 0.5) {
  const time: FakeClock = fakeClock();
  const asked: string[] = [];
  const answers = new Map<string, () => Answer>();
  const warnings: unknown[] = [];
  const infos: unknown[] = [];
  const log = {
    info: (fields: unknown) => infos.push(fields),
    error: () => undefined,
    warn: (fields: unknown) => warnings.push(fields),
  };
  const urls = readBrokerUrls(Array.from(names, (name) => `https://${name}`));
  const endpoints = createEndpoints(urls, time, random);
  const deps = {
    endpoints,
    pauses: createSleeper(time),
    clock: time,
    random,
    log,
  };
  const run = createFailover(deps);
  const call = (more: Partial<Task<string>> = {}): Promise<string> =>
    run({
      attempt: ({ url }) => {
        asked.push(url.host);
        return Promise.resolve(answers.get(url.host)?.() ?? ok);
      },
      isRepeatable: () => true,
      retriesLater: true,
      ...more,
    });
  /** What came of it: the value, or the code of the fault. */
  const outcome = async (more: Partial<Task<string>> = {}): Promise<string> => {
    const ended = call(more).catch((error: Fault) => error.code);
    await time.advance(60_000);
    return ended;
  };
  const takeAsked = (): string => asked.splice(0).join("");
  return { time, answers, warnings, infos, call, outcome, takeAsked, endpoints };
}

describe("which address is asked", () => {
  test.each<FaultCode>(["unreachable", "not-leader", "overloaded", "store-unavailable"])(
    "%s: the next one, at once",
    async (code) => {
      const { answers, call, takeAsked } = setup("abc");
      answers.set("a", () => fails(code));
      expect(await call()).toBe("ok");
      expect(takeAsked()).toBe("ab");
    },
  );

  test("one that is dead is left alone for a while, then asked again when the good one fails", async () => {
    const { answers, call, outcome, takeAsked, time } = setup("ab");
    answers.set("a", () => fails("unreachable"));
    await call();
    answers.set("b", () => fails("unreachable"));
    takeAsked();
    const ended = outcome({ retriesLater: false });
    expect(await ended).toBe("unreachable");
    expect(takeAsked()).toBe("b");
    answers.clear();
    await time.advance(60_000);
    answers.set("b", () => fails("unreachable"));
    expect(await call()).toBe("ok");
    expect(takeAsked()).toBe("ba");
  });

  test("every one is tried, also more than the tries of one call", async () => {
    const { answers, call, takeAsked } = setup("abcde");
    for (const name of "abcd") answers.set(name, () => fails("unreachable"));
    expect(await call()).toBe("ok");
    expect(takeAsked()).toBe("abcde");
  });

  test("when all fail, each is named with its reason", async () => {
    const { answers, call } = setup("ab");
    answers.set("a", () => fails("unreachable"));
    answers.set("b", () => fails("not-leader"));
    await expect(call({ retriesLater: false })).rejects.toMatchObject({
      code: "not-leader",
      message: "https://a: unreachable; https://b: not-leader",
    });
  });

  test.each(["ab", "ba"])(
    "when all fail, one that is down does not hide that ca.crt lacks the authority of the others (%s)",
    async (names) => {
      const { answers, call } = setup(names);
      const unknown = Object.assign(new Error("x"), { code: "SELF_SIGNED_CERT_IN_CHAIN" });
      const fault = new Fault("unreachable", "unknown authority", { cause: unknown });
      answers.set("a", () => fails("unreachable", { fault }));
      answers.set("b", () => fails("unreachable"));
      const ended = await call({ retriesLater: false }).catch((error: Fault) => error);
      expect(ended instanceof Fault && refusedCertificate(ended)).toBe("server");
    },
  );

  test("it is said when one turns bad and when it is well again, not each time", async () => {
    const { answers, outcome, warnings, infos } = setup("a");
    answers.set("a", () => fails("unreachable"));
    for (let calls = 0; calls < 5; calls++) await outcome();
    expect(warnings).toMatchObject([{ broker: "https://a", code: "unreachable" }]);
    answers.clear();
    for (let calls = 0; calls < 3; calls++) await outcome();
    expect(infos).toEqual([{ broker: "https://a" }]);
    answers.set("a", () => fails("unreachable"));
    await outcome();
    expect(warnings).toHaveLength(2);
  });

  test("those who lost the same broker come back at different times", () => {
    const waits = [0.1, 0.9].map((random) => {
      const { endpoints } = setup("a", () => random);
      const endpoint = endpoints.pick(new Set());
      for (let failures = 0; failures < 20; failures++) endpoints.failed(endpoint, undefined);
      return endpoints.dueInMs();
    });
    expect(waits).toEqual([1000, 9000]);
  });

  test("while all are left alone, the first that is due is next", () => {
    const { endpoints } = setup("ab");
    const a = endpoints.pick(new Set());
    const b = endpoints.pick(new Set([a]));
    endpoints.failed(a, 70_000);
    endpoints.failed(b, 30_000);
    expect(endpoints.dueInMs()).toBe(30_000);
    expect(endpoints.pick(new Set())).toBe(b);
    expect(endpoints.succeeded(a)).toBe(true);
    expect(endpoints.dueInMs()).toBe(0);
    expect(endpoints.pick(new Set())).toBe(a);
  });

  test("one that keeps failing is left alone for longer than it says", () => {
    const { endpoints } = setup("a", () => 0.9);
    const a = endpoints.pick(new Set());
    for (let failures = 0; failures < 20; failures++) endpoints.failed(a, 100);
    expect(endpoints.dueInMs()).toBe(9000);
  });

  test("one that says when to come again is left alone until then", () => {
    const { endpoints } = setup("a");
    endpoints.failed(endpoints.pick(new Set()), 7000);
    expect(endpoints.dueInMs()).toBe(7000);
  });
});

describe("what is tried again", () => {
  test("a call that was turned away by its rate, when Retry-After is over and not before", async () => {
    const { answers, call, takeAsked, time } = setup("ab");
    answers.set("a", () => fails("rate-limited", {}, { retryAfterMs: 4000 }));
    const ended = call();
    await time.advance(3999);
    expect(takeAsked()).toBe("a");
    answers.clear();
    await time.advance(1);
    expect(await ended).toBe("ok");
    expect(takeAsked()).toBe("a");
  });

  const once = { isRepeatable: () => false };
  test.each<[name: string, answer: Answer, task: Partial<Task<string>>, ends: string, asked: string]>([
    [
      "nothing that must wait too long",
      fails("rate-limited", {}, { retryAfterMs: 30_000 }),
      {},
      "rate-limited",
      "a",
    ],
    ["not what may have arrived and would be done twice", fails("unreachable"), once, "unreachable", "a"],
    [
      "such a call when it has not arrived",
      fails("unreachable", { mayHaveArrived: false }),
      once,
      "ok",
      "ab",
    ],
    ["not a refusal: that is the last word", fails("no-capacity"), {}, "no-capacity", "a"],
    ["not a mistake of its own", fails("invalid"), {}, "invalid", "a"],
  ])("%s", async (_, answer, task, ends, asked) => {
    const { answers, outcome, takeAsked } = setup("ab");
    answers.set("a", () => answer);
    expect(await outcome(task)).toBe(ends);
    expect(takeAsked()).toBe(asked);
  });

  test("a broken call, three times at most", async () => {
    const { answers, outcome, takeAsked } = setup("a");
    answers.set("a", () => fails("unreachable"));
    expect(await outcome()).toBe("unreachable");
    expect(takeAsked()).toBe("aaa");
  });

  test("a call on a connection that was just being closed: at once, and nobody is blamed", async () => {
    const { answers, call, takeAsked, warnings } = setup("ab");
    let isStale = true;
    answers.set("a", () => {
      if (!isStale) return ok;
      isStale = false;
      return fails("unreachable", { wasStale: true });
    });
    expect(await call()).toBe("ok");
    expect([takeAsked(), warnings]).toEqual(["aa", []]);
  });

  test("in a long outage, hardly more than the calls themselves", async () => {
    const { answers, outcome, takeAsked } = setup("a");
    answers.set("a", () => fails("unreachable"));
    const calls = 500;
    for (let made = 0; made < calls; made++) await outcome();
    const retries = takeAsked().length - calls;
    expect(retries).toBeGreaterThan(0.05 * calls);
    expect(retries).toBeLessThanOrEqual(0.1 * calls + 10);
  });
});
