import { describe, expect, test } from "vitest";
import { History } from "./history.ts";
import { type Call, checkLinearizable } from "./linearizable.ts";
import { type ProviderOperation, type ProviderResult, providerObject } from "./provider-object.ts";

type Line = Call<ProviderOperation, ProviderResult>;

const CAPACITY = 4;
const live: ProviderResult = { kind: "live" };
const ended: ProviderResult = { kind: "ended" };
const refused: ProviderResult = { kind: "refused" };
const absent: ProviderResult = { kind: "absent" };
const free = (cpu: number): ProviderResult => ({ kind: "free", cpu });
const reserve = (key: string, cpu: number): ProviderOperation => ({ kind: "reserve", key, cpu });
const release = (key: string): ProviderOperation => ({ kind: "release", key });
const read = (key: string): ProviderOperation => ({ kind: "read", key });
const readFree: ProviderOperation = { kind: "read-free" };

/** A call from one moment to another. */
function call(operation: ProviderOperation, from: number, to: number, result: ProviderResult): Line {
  return { operation, invokedAt: from, returned: { at: to, result } };
}
const unanswered = (operation: ProviderOperation, from: number): Line => ({ operation, invokedAt: from });

const RIGHT: readonly { readonly name: string; readonly history: readonly Line[] }[] = [
  { name: "nothing at all", history: [] },
  {
    name: "one call after the other",
    history: [
      call(reserve("a", 4), 0, 1, live),
      call(release("a"), 2, 3, ended),
      call(readFree, 4, 5, free(4)),
    ],
  },
  {
    name: "two at the same time, of which one fits",
    history: [call(reserve("a", 3), 0, 3, refused), call(reserve("b", 3), 1, 2, live)],
  },
  {
    name: "a reader that sees a call before it is answered",
    history: [
      call(reserve("a", 1), 0, 5, live),
      call(readFree, 1, 2, free(3)),
      call(readFree, 3, 4, free(3)),
    ],
  },
  {
    name: "a reader that does not see it yet, and then does",
    history: [
      call(reserve("a", 1), 0, 5, live),
      call(readFree, 1, 2, free(4)),
      call(readFree, 3, 4, free(3)),
    ],
  },
  {
    name: "a call that nobody answered and that happened",
    history: [
      unanswered(reserve("a", 4), 0),
      call(reserve("b", 1), 1, 2, refused),
      call(read("a"), 3, 4, live),
    ],
  },
  {
    name: "a call that nobody answered and that happened much later",
    history: [unanswered(reserve("a", 4), 0), call(readFree, 1, 2, free(4)), call(read("a"), 3, 4, live)],
  },
  {
    name: "a call that nobody answered and that never happened",
    history: [
      unanswered(reserve("a", 4), 0),
      call(reserve("b", 4), 1, 2, live),
      call(read("a"), 3, 4, absent),
    ],
  },
  {
    name: "a retry that finds what the first attempt made",
    history: [
      unanswered(reserve("a", 2), 0),
      call(reserve("a", 2), 1, 2, live),
      call(readFree, 3, 4, free(2)),
    ],
  },
  {
    name: "a retry after the end",
    history: [
      call(reserve("a", 2), 0, 1, live),
      call(release("a"), 2, 3, ended),
      call(reserve("a", 2), 4, 5, ended),
    ],
  },
  {
    name: "many unanswered calls at once",
    history: [
      ...Array.from({ length: 24 }, (_, each) => unanswered(reserve(`u${each}`, 1), each)),
      call(readFree, 100, 101, free(0)),
      call(readFree, 102, 103, free(0)),
    ],
  },
];

const WRONG: readonly { readonly name: string; readonly history: readonly Line[] }[] = [
  {
    name: "one resource lent twice",
    history: [call(reserve("a", 4), 0, 1, live), call(reserve("b", 4), 2, 3, live)],
  },
  {
    name: "one resource lent twice at the same time",
    history: [call(reserve("a", 4), 0, 3, live), call(reserve("b", 4), 1, 2, live)],
  },
  {
    name: "an acknowledged reservation that is lost",
    history: [call(reserve("a", 4), 0, 1, live), call(read("a"), 2, 3, absent)],
  },
  {
    name: "a read from the past",
    history: [call(reserve("a", 4), 0, 1, live), call(readFree, 2, 3, free(4))],
  },
  {
    name: "a reader who sees it, and one after him who does not",
    history: [
      call(reserve("a", 1), 0, 9, live),
      call(readFree, 1, 2, free(3)),
      call(readFree, 3, 4, free(4)),
    ],
  },
  {
    name: "a refusal though there was room all the time",
    history: [call(reserve("a", 4), 0, 1, refused), call(readFree, 2, 3, free(4))],
  },
  {
    name: "a retry that books again",
    history: [
      call(reserve("a", 2), 0, 1, live),
      call(reserve("a", 2), 2, 3, live),
      call(readFree, 4, 5, free(0)),
    ],
  },
  {
    name: "capacity that is freed twice",
    history: [
      call(reserve("a", 2), 0, 1, live),
      call(reserve("b", 2), 2, 3, live),
      call(release("a"), 4, 5, ended),
      call(release("a"), 6, 7, ended),
      call(readFree, 8, 9, free(4)),
    ],
  },
  {
    name: "a released reservation that lives again",
    history: [
      call(reserve("a", 2), 0, 1, live),
      call(release("a"), 2, 3, ended),
      call(read("a"), 4, 5, live),
    ],
  },
  {
    name: "an unanswered call that takes effect before it was made",
    history: [call(readFree, 0, 1, free(0)), unanswered(reserve("a", 4), 2)],
  },
];

describe("a history has an order", () => {
  test.each(RIGHT)("$name", ({ history }) => {
    expect(checkLinearizable(history, providerObject(CAPACITY))).toEqual({ isLinearizable: true });
  });

  test("and so has a long one with many callers at once", () => {
    const history = Array.from({ length: 400 }, (_, each) => {
      const [key, round] = [`k${each % 8}-${each >> 4}`, each >> 3];
      const isRelease = round % 2 === 1;
      return call(
        isRelease ? release(key) : reserve(key, 1),
        20 * round + (each % 8),
        20 * round + 10 + ((each * 5) % 8),
        isRelease ? ended : live,
      );
    });
    expect(checkLinearizable(history, providerObject(8)).isLinearizable).toBe(true);
  });
});

test("a history that is written down knows reservations of which nobody heard again", () => {
  const history = new History("paris", CAPACITY);
  const asked = [reserve("a", 1), reserve("a", 1), reserve("b", 1), reserve("c", 2), readFree];
  for (const operation of asked) history.invoke(operation);
  history.invoke(readFree)(free(2));
  history.invoke(reserve("d", 3))("nothing happened");
  history.invoke(readFree)(free(0));
  expect([history.size, history.problem()]).toEqual([7, undefined]);
  // The two calls of `a` are one reservation: there is nothing left that could have taken more.
  history.invoke(release("e"))({ kind: "absent" });
  history.invoke(readFree)(free(1));
  expect(history.problem()).toContain("none of these can be next");
});

describe("a history has no order", () => {
  test.each(WRONG)("$name", ({ history }) => {
    const judgement = checkLinearizable(history, providerObject(CAPACITY));
    expect(judgement).toMatchObject({ isLinearizable: false, stuck: expect.any(Array) });
  });

  test("and the first call that cannot be explained is named", () => {
    const lent = call(reserve("b", 4), 2, 3, live);
    const judgement = checkLinearizable([call(reserve("a", 4), 0, 1, live), lent], providerObject(CAPACITY));
    expect(judgement).toEqual({ isLinearizable: false, stuck: [lent] });
  });
});
