import { type FakeClock, fakeClock } from "@resource-broker/testkit";
import { beforeEach, describe, expect, test } from "vitest";
import { watchAudit } from "./audit-watch.ts";
import { CHAIN_START, type ChainLink, canonical, nextLink, UnreadableLine } from "./common/audit.ts";
import { type AuditEntry, type AuditQuery, StoreFailure } from "./store.ts";

const HOUR_MS = 3_600_000;

let time: FakeClock;
let log: AuditEntry[];
let checked: number;
let found: (string | undefined)[];
let errors: string[];
/** What the next reads end with instead of lines. */
let failure: Error | undefined;
let stop: () => void;
let chain: () => unknown;

beforeEach(() => {
  time = fakeClock();
  log = [];
  checked = 0;
  found = [];
  errors = [];
  failure = undefined;
  ({ stop, chain } = watchAudit({
    store: { readAudit },
    clock: time,
    observer: {
      auditChecked: (lines) => {
        checked += lines;
      },
      auditFound: (problem) => void found.push(problem),
    },
    log: { error: (_, message) => void errors.push(message), info: () => undefined },
  }));
});

async function readAudit({ after, limit }: AuditQuery): Promise<readonly AuditEntry[]> {
  if (failure !== undefined) throw failure;
  return log.filter(({ sequence }) => sequence > after).slice(0, limit);
}

/** Lines of a sound log, after `before`. */
function linesAfter(before: ChainLink, count: number, by = "rome"): AuditEntry[] {
  let link = before;
  return Array.from({ length: count }, () => {
    const number = link.sequence + 1;
    const line = { at: number, commitNumber: number, by, action: "reserve", subject: "", detail: "" };
    link = nextLink(link, canonical(line));
    return { ...line, ...link };
  });
}

function append(count: number): void {
  log = [...log, ...linesAfter(log.at(-1) ?? CHAIN_START, count)];
}

function change(sequence: number, change: Partial<AuditEntry>): void {
  log = log.map((line) => (line.sequence === sequence ? { ...line, ...change } : line));
}

function remove(first: number, count: number): void {
  log = log.filter(({ sequence }) => sequence < first || sequence >= first + count);
}

const problem = (): string | undefined => found.at(-1);

describe("the watch over the audit log", () => {
  test("finds a whole log whole, and new lines too", async () => {
    append(1000);
    expect(chain()).toEqual({ state: "checking", lines: 0 });
    await time.advance(60_000);
    expect({ checked, problem: problem() }).toEqual({ checked: 1000, problem: undefined });
    append(3);
    await time.advance(10_000);
    expect(chain()).toMatchObject({ state: "whole", lines: 1003 });
    expect({ checked, problem: problem() }).toEqual({ checked: 1003, problem: undefined });
    expect(errors).toEqual([]);
  });

  const CHANGED = "was changed: it does not match its hash";
  const DAMAGES: readonly (readonly [string, () => void, string])[] = [
    ["a changed line", () => change(700, { detail: "nothing happened" }), `line 700 ${CHANGED}`],
    ["a changed hash", () => change(700, { hash: "f".repeat(64) }), `line 700 ${CHANGED}`],
    ["a changed first line", () => change(1, { by: "paris" }), `line 1 ${CHANGED}`],
    ["a missing line", () => remove(700, 1), "line 700 is missing"],
    ["a missing page", () => remove(200, 200), "line 200 is missing"],
  ];
  test.each(DAMAGES)(
    "finds %s, also when it comes about after the first round",
    async (_, damage, expected) => {
      append(1000);
      const whole = log;
      damage();
      await time.advance(60_000);
      expect(chain()).toEqual({ state: "broken", message: expected });
      expect(errors).toHaveLength(1);
      log = whole;
      await time.advance(2 * HOUR_MS);
      expect(problem()).toBeUndefined();
      damage();
      await time.advance(2 * HOUR_MS);
      expect(problem()).toBe(expected);
    },
  );

  test("finds lines that were cut off at the end, and a log that was written again", async () => {
    append(1000);
    await time.advance(60_000);
    const whole = log;
    log = whole.slice(0, 900);
    await time.advance(2 * HOUR_MS);
    expect(problem()).toBe("the log ends at line 900, but line 1000 was there before");
    log = whole;
    await time.advance(2 * HOUR_MS);
    expect(problem()).toBeUndefined();
    log = linesAfter(CHAIN_START, 1000, "nobody");
    await time.advance(2 * HOUR_MS);
    expect(problem()).toBe("line 1000 has changed since it was last checked");
  });

  test("takes old lines that were trimmed away for what they are, before a round and while one is under way", async () => {
    append(1000);
    log = log.slice(100);
    await time.advance(10_000);
    log = log.slice(400);
    await time.advance(60_000);
    expect(problem()).toBeUndefined();
    expect(errors).toEqual([]);
  });

  test("a line that is no line at all is damage; a store that cannot be reached is none", async () => {
    append(10);
    failure = new StoreFailure("not-committed", "the disk is gone");
    await time.advance(60_000);
    expect({ checked, found }).toEqual({ checked: 0, found: [] });
    failure = undefined;
    await time.advance(60_000);
    expect(problem()).toBeUndefined();
    failure = new StoreFailure("not-committed", "db: not an audit line", { cause: new UnreadableLine() });
    await time.advance(HOUR_MS);
    expect(problem()).toContain("a line cannot be read");
  });

  test("rests a hundred times as long as it works, and ends", async () => {
    append(2000);
    stop();
    let reads = 0;
    let workedMs = 0;
    ({ stop } = watchAudit({
      store: {
        readAudit: (query) => {
          reads++;
          workedMs += 50;
          return readAudit(query);
        },
      },
      clock: { ...time, monotonicMs: () => time.monotonicMs() + workedMs },
      observer: { auditChecked: () => undefined, auditFound: () => undefined },
      log: { error: () => undefined, info: () => undefined },
    }));
    await time.advance(10_000);
    expect(reads).toBe(1);
    await time.advance(50 * 99 - 1);
    expect(reads).toBe(1);
    await time.advance(1);
    expect(reads).toBe(2);
    stop();
    await time.advance(HOUR_MS);
    expect(reads).toBe(2);
  });
});
