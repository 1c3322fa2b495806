import { DatabaseSync } from "node:sqlite";
import { type FakeClock, fakeClock } from "@resource-broker/testkit";
import { beforeEach, describe, expect, test } from "vitest";
import { watchAudit } from "./audit-watch.ts";
import { CHAIN_START, type ChainLink, canonical, fromCanonical, nextLink } from "./common/audit.ts";
import { Grants } from "./common/testing/grants.ts";
import { temporaryDirectory } from "./common/testing/temporary-directory.ts";
import { ledgerFileIn } from "./sqlite/database.ts";
import { sqliteStore } from "./sqlite/sqlite-store.ts";
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

beforeEach(() => {
  time = fakeClock();
  log = [];
  checked = 0;
  found = [];
  errors = [];
  failure = undefined;
  stop = watchAudit({
    store: { readAudit },
    clock: time,
    observer: {
      auditChecked: (lines) => {
        checked += lines;
      },
      auditFound: (problem) => void found.push(problem),
    },
    log: { error: (_, message) => void errors.push(message), info: () => undefined },
  });
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

const problem = (): string | undefined => found.at(-1);

describe("the watch over the audit log", () => {
  test("finds a whole log whole, and new lines too", async () => {
    append(1000);
    await time.advance(60_000);
    expect({ checked, problem: problem() }).toEqual({ checked: 1000, problem: undefined });
    append(3);
    await time.advance(10_000);
    expect({ checked, problem: problem() }).toEqual({ checked: 1003, problem: undefined });
    expect(errors).toEqual([]);
  });

  const DAMAGES: readonly (readonly [string, () => void, string])[] = [
    [
      "a changed line",
      () => change(700, { detail: "nothing happened" }),
      "line 700 was changed: it does not match its hash",
    ],
    [
      "a changed hash",
      () => change(700, { hash: "f".repeat(64) }),
      "line 700 was changed: it does not match its hash",
    ],
    [
      "a changed first line",
      () => change(1, { by: "paris" }),
      "line 1 was changed: it does not match its hash",
    ],
    ["a missing line", () => void log.splice(699, 1), "line 700 is missing"],
    ["a missing page", () => void log.splice(199, 200), "line 200 is missing"],
  ];
  test.each(DAMAGES)("finds %s", async (_, damage, expected) => {
    append(1000);
    damage();
    await time.advance(60_000);
    expect(problem()).toBe(expected);
    expect(errors).toHaveLength(1);
  });

  test.each(DAMAGES)(
    "finds %s that comes about after the first round, within two hours",
    async (_, damage, expected) => {
      append(1000);
      await time.advance(60_000);
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

  test("is reported when the log is whole again", async () => {
    append(10);
    change(5, { by: "paris" });
    await time.advance(60_000);
    expect(problem()).toContain("line 5");
    change(5, { by: "rome" });
    await time.advance(2 * HOUR_MS);
    expect(problem()).toBeUndefined();
    expect(errors).toHaveLength(1);
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
    failure = new StoreFailure("not-committed", "db: not an audit line", {
      cause: thrownBy(() => fromCanonical("{")),
    });
    await time.advance(HOUR_MS);
    expect(problem()).toContain("a line cannot be read");
  });

  test("rests a hundred times as long as it works", async () => {
    append(2000);
    stop();
    let reads = 0;
    let workedMs = 0;
    stop = watchAudit({
      store: {
        readAudit: (query) => {
          reads++;
          workedMs += 50;
          return readAudit(query);
        },
      },
      clock: { after: time.after, monotonicMs: () => time.monotonicMs() + workedMs },
      observer: { auditChecked: () => undefined, auditFound: () => undefined },
      log: { error: () => undefined, info: () => undefined },
    });
    await time.advance(10_000);
    expect(reads).toBe(1);
    await time.advance(50 * 99 - 1);
    expect(reads).toBe(1);
    await time.advance(1);
    expect(reads).toBe(2);
  });

  test("ends", async () => {
    stop();
    append(10);
    await time.advance(HOUR_MS);
    expect(checked).toBe(0);
  });
});

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}

test("on the embedded store a line that somebody rewrites is found, and one that is no line any more", async () => {
  stop();
  const directory = temporaryDirectory();
  const store = sqliteStore({ directory });
  await store.open();
  await new Grants().commit(store, 250);
  const problems: (string | undefined)[] = [];
  const observer = { auditChecked: () => undefined, auditFound: (each?: string) => void problems.push(each) };
  const silent = { error: () => undefined, info: () => undefined };
  stop = watchAudit({ store, clock: time, observer, log: silent });
  await time.advance(60_000);
  expect(problems.at(-1)).toBeUndefined();
  const database = new DatabaseSync(ledgerFileIn(directory));
  database.exec(`UPDATE audit SET line = replace(line, 'reserve', 'release') WHERE sequence = 222`);
  await time.advance(2 * HOUR_MS);
  expect(problems.at(-1)).toBe("line 222 was changed: it does not match its hash");
  database.exec("UPDATE audit SET line = 'gone' WHERE sequence = 222");
  database.close();
  await time.advance(2 * HOUR_MS);
  expect(problems.at(-1)).toContain("a line cannot be read");
  stop();
  await store.close();
});
