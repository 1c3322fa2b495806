import { describe, expect, test } from "vitest";
import { History } from "./history.ts";
import { type Call, checkLinearizable } from "./linearizable.ts";
import { type ProviderOperation, type ProviderResult, providerObject } from "./provider-object.ts";

const CAPACITY = 4;

/**
 * One call on a line: `0-3 reserve a 4: live` from moment 0 to 3; `0 …` was never answered. `wait a 4` waits if there is no
 * room. Keys are of the tenant `rome`; `tokyo/a` is of another one.
 */
function call(line: string): Call<ProviderOperation, ProviderResult> {
  const [asked = "", answer] = line.split(": ");
  const [moments = "", kind = "", key = "", cpu = ""] = asked.split(" ");
  const [from = 0, to] = moments.split("-").map(Number);
  const operation = operationIn(kind, key, Number(cpu));
  const returned = to === undefined ? {} : { returned: { at: to, result: resultIn(answer ?? "") } };
  return { operation, invokedAt: from, ...returned };
}

function operationIn(kind: string, key: string, cpu: number): ProviderOperation {
  const tenant = key.includes("/") ? key.slice(0, key.indexOf("/")) : "rome";
  if (kind === "wait") return { kind: "reserve", key, cpu, tenant, wait: true };
  return { kind, key, tenant, ...(cpu > 0 ? { cpu } : {}) } as ProviderOperation;
}

function resultIn(answer: string): ProviderResult {
  const [kind = "", ...rest] = answer.split(" ");
  const details = { free: { cpu: Number(rest[0]) }, queue: { keys: rest } }[kind] ?? {};
  return { kind, ...details } as ProviderResult;
}

const judged = (lines: readonly string[], capacity = CAPACITY) =>
  checkLinearizable(lines.map(call), providerObject(capacity));

const RIGHT: readonly (readonly [name: string, ...lines: string[]])[] = [
  ["nothing at all"],
  ["one call after the other", "0-1 reserve a 4: live", "2-3 release a: ended", "4-5 read-free: free 4"],
  ["two at the same time, of which one fits", "0-3 reserve a 3: refused", "1-2 reserve b 3: live"],
  [
    "a reader that sees a call before it is answered",
    "0-5 reserve a 1: live",
    "1-2 read-free: free 3",
    "3-4 read-free: free 3",
  ],
  [
    "a reader that does not see it yet, and then does",
    "0-5 reserve a 1: live",
    "1-2 read-free: free 4",
    "3-4 read-free: free 3",
  ],
  ["an unanswered call that happened", "0 reserve a 4", "1-2 reserve b 1: refused", "3-4 read a: live"],
  ["one that happened much later", "0 reserve a 4", "1-2 read-free: free 4", "3-4 read a: live"],
  ["one that never happened", "0 reserve a 4", "1-2 reserve b 4: live", "3-4 read a: absent"],
  ["a retry that finds its reservation", "0 reserve a 2", "1-2 reserve a 2: live", "3-4 read-free: free 2"],
  ["a retry after the end", "0-1 reserve a 2: live", "2-3 release a: ended", "4-5 reserve a 2: ended"],
  [
    "one that waits until there is room",
    "0-1 reserve a 4: live",
    "2-3 wait b 3: waiting",
    "4-5 read-queue: queue b",
    "6-7 release a: ended",
    "8-9 read b: live",
    "10-11 read-free: free 1",
  ],
  [
    "one that is not granted yet, and then is",
    "0-1 reserve a 4: live",
    "2-3 wait b 3: waiting",
    "4-5 release a: ended",
    "6-7 read b: waiting",
    "8-9 read-free: free 4",
    "10-11 wait b 3: live",
  ],
  [
    "one that does not wait because there is room",
    "0-1 reserve a 2: live",
    "2-3 wait b 3: waiting",
    "4-5 wait c 2: live",
    "6-7 reserve d 1: refused",
  ],
  [
    "one that leaves the queue, and one behind it",
    "0-1 reserve a 4: live",
    "2-3 wait b 3: waiting",
    "4-5 wait c 2: waiting",
    "6-7 release b: left",
    "8-9 release a: ended",
    "10-11 read c: live",
    "12-13 wait b 3: closed",
    "14-15 read b: left",
  ],
  [
    "a smaller one behind one that does not fit",
    "0-1 reserve a 2: live",
    "2-3 reserve b 2: live",
    "4-5 wait c 3: waiting",
    "6-7 wait d 2: waiting",
    "8-9 release a: ended",
    "10-11 read d: live",
    "12-13 read-queue: queue c",
  ],
  [
    "the tenant that holds less first",
    "0-1 reserve a 1: live",
    "2-3 reserve b 3: live",
    "4-5 wait c 2: waiting",
    "6-7 wait tokyo/d 2: waiting",
    "8-9 release b: ended",
    "10-11 read tokyo/d: live",
    "12-13 read c: waiting",
  ],
  [
    "an unanswered one that waits before another",
    "0-1 reserve a 4: live",
    "2 wait b 4",
    "3-4 wait c 4: waiting",
    "5-6 release a: ended",
    "7-8 read-free: free 0",
    "9-10 read c: waiting",
  ],
  [
    "many unanswered calls at once",
    ...Array.from({ length: 24 }, (_, each) => `${each} reserve u${each} 1`),
    "100-101 read-free: free 0",
    "102-103 read-free: free 0",
  ],
];

const WRONG: readonly (readonly [name: string, ...lines: string[]])[] = [
  ["one resource lent twice", "0-1 reserve a 4: live", "2-3 reserve b 4: live"],
  ["one resource lent twice at the same time", "0-3 reserve a 4: live", "1-2 reserve b 4: live"],
  ["an acknowledged reservation that is lost", "0-1 reserve a 4: live", "2-3 read a: absent"],
  ["a read from the past", "0-1 reserve a 4: live", "2-3 read-free: free 4"],
  [
    "a reader who sees it, and a later one who does not",
    "0-9 reserve a 1: live",
    "1-2 read-free: free 3",
    "3-4 read-free: free 4",
  ],
  ["a refusal though there was room all the time", "0-1 reserve a 4: refused", "2-3 read-free: free 4"],
  ["a retry that books again", "0-1 reserve a 2: live", "2-3 reserve a 2: live", "4-5 read-free: free 0"],
  [
    "capacity that is freed twice",
    "0-1 reserve a 2: live",
    "2-3 reserve b 2: live",
    "4-5 release a: ended",
    "6-7 release a: ended",
    "8-9 read-free: free 4",
  ],
  ["a released one that lives again", "0-1 reserve a 2: live", "2-3 release a: ended", "4-5 read a: live"],
  [
    "one that waits though there is room, and is passed over",
    "0-1 reserve a 1: live",
    "2-3 wait b 3: waiting",
    "4-5 wait c 3: live",
    "6-7 read b: waiting",
  ],
  [
    "one that is granted while an earlier one of its tenant fits",
    "0-1 reserve a 4: live",
    "2-3 wait b 3: waiting",
    "4-5 wait c 3: waiting",
    "6-7 release a: ended",
    "8-9 read c: live",
    "10-11 read b: waiting",
  ],
  [
    "a newcomer that takes what another waits for",
    "0-1 reserve a 4: live",
    "2-3 wait b 3: waiting",
    "4-5 release a: ended",
    "6-7 reserve c 3: live",
    "8-9 read b: waiting",
  ],
  [
    "an entry that is lost after the answer",
    "0-1 reserve a 4: live",
    "2-3 wait b 3: waiting",
    "4-5 read b: absent",
  ],
  [
    "an entry that is lost from the list",
    "0-1 reserve a 4: live",
    "2-3 wait b 3: waiting",
    "4-5 read-queue: queue",
  ],
  [
    "one that is granted twice",
    "0-1 reserve a 4: live",
    "2-3 wait b 2: waiting",
    "4-5 release a: ended",
    "6-7 read b: live",
    "8-9 read-free: free 0",
  ],
  [
    "one that is granted and waits again",
    "0-1 reserve a 4: live",
    "2-3 wait b 2: waiting",
    "4-5 release a: ended",
    "6-7 read b: live",
    "8-9 read b: waiting",
  ],
  [
    "one that is granted after it left the queue",
    "0-1 reserve a 4: live",
    "2-3 wait b 2: waiting",
    "4-5 release b: left",
    "6-7 release a: ended",
    "8-9 read b: live",
  ],
  [
    "the tenant that holds more first",
    "0-1 reserve a 1: live",
    "2-3 reserve b 3: live",
    "4-5 wait c 2: waiting",
    "6-7 wait tokyo/d 2: waiting",
    "8-9 release b: ended",
    "10-11 read c: live",
    "12-13 read tokyo/d: waiting",
  ],
  ["one that waits though it did not ask to", "0-1 reserve a 4: live", "2-3 reserve b 4: waiting"],
  ["an unanswered call that takes effect before it was made", "0-1 read-free: free 0", "2 reserve a 4"],
];

describe("a history has an order", () => {
  test.each(RIGHT)("%s", (_, ...lines) => {
    expect(judged(lines)).toEqual({ isLinearizable: true });
  });

  test("and so has a long one with many callers at once", () => {
    const lines = Array.from({ length: 400 }, (_, each) => {
      const [key, round] = [`k${each % 8}-${each >> 4}`, each >> 3];
      const moments = `${20 * round + (each % 8)}-${20 * round + 10 + ((each * 5) % 8)}`;
      return round % 2 === 1 ? `${moments} release ${key}: ended` : `${moments} reserve ${key} 1: live`;
    });
    expect(judged(lines, 8).isLinearizable).toBe(true);
  });
});

describe("a history has no order", () => {
  test.each(WRONG)("%s", (_, ...lines) => {
    expect(judged(lines)).toMatchObject({ isLinearizable: false, stuck: expect.any(Array) });
  });

  test("and the first call that cannot be explained is named", () => {
    const lent = "2-3 reserve b 4: live";
    expect(judged(["0-1 reserve a 4: live", lent])).toEqual({ isLinearizable: false, stuck: [call(lent)] });
  });
});

test("a history that is written down knows whose key a list tells, though no answer speaks of it", () => {
  const history = new History("paris", CAPACITY);
  history.invoke(call("0 reserve a 4").operation)({ kind: "live" });
  history.invoke(call("0 wait b 3").operation);
  history.invoke(call("0 read-queue").operation)({ kind: "queue", keys: ["b"] });
  expect(history.problem()).toBeUndefined();
  history.invoke(call("0 read-queue").operation)({ kind: "queue", keys: [] });
  expect(history.problem()).toContain("read-queue");
});

test("a history that is written down knows reservations of which nobody heard again", () => {
  const history = new History("paris", CAPACITY);
  const asked = ["0 reserve a 1", "0 reserve a 1", "0 reserve b 1", "0 reserve c 2", "0 read-free"];
  for (const line of asked) history.invoke(call(line).operation);
  history.invoke({ kind: "read-free" })({ kind: "free", cpu: 2 });
  history.invoke({ kind: "reserve", key: "d", cpu: 3, tenant: "rome" })("nothing happened");
  history.invoke({ kind: "read-free" })({ kind: "free", cpu: 0 });
  expect([history.size, history.problem()]).toEqual([7, undefined]);
  // The two calls of `a` are one reservation: there is nothing left that could have taken more.
  history.invoke({ kind: "release", key: "e" })({ kind: "absent" });
  history.invoke({ kind: "read-free" })({ kind: "free", cpu: 1 });
  expect(history.problem()).toContain("none of these can be next");
});
