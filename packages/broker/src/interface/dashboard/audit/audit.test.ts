import type { UiVerified } from "@resource-broker/contract/dashboard";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { CHAIN_START, type ChainLink, canonical, nextLink } from "../../../store/common/audit.ts";
import type { AuditEntry, AuditQuery } from "../../../store/store.ts";
import { newestLines } from "./audit-tail.ts";
import { createChainCheck } from "./chain-check.ts";

const NOON = Date.UTC(2026, 0, 5, 12);

function logOf(count: number, from = 1): AuditEntry[] {
  const lines: AuditEntry[] = [];
  let link: ChainLink = CHAIN_START;
  for (let sequence = 1; sequence <= count; sequence++) {
    const line = {
      at: NOON + sequence,
      commitNumber: sequence,
      by: sequence % 3 === 0 ? "ops" : "rome",
      action: "reserve",
      subject: `rsv-${sequence}`,
      detail: `Line ${sequence}`,
    };
    link = nextLink(link, canonical(line));
    lines.push({ ...line, sequence, hash: link.hash });
  }
  return lines.slice(from - 1);
}

/** A store that only holds a log, and counts how often it is asked. */
function storeOf(lines: AuditEntry[]) {
  let reads = 0;
  return {
    reads: () => reads,
    lines,
    readAudit: ({ after, limit }: AuditQuery) => {
      reads++;
      return Promise.resolve(lines.filter(({ sequence }) => sequence > after).slice(0, limit));
    },
  };
}

describe("the newest lines", () => {
  test.each([0, 1, 2, 63, 64, 65, 100, 5000])("of a log of %i are found with a few reads", async (count) => {
    const store = storeOf(logOf(count));
    const lines = newestLines(store);
    expect(await lines.last()).toBe(count);
    expect(store.reads()).toBeLessThan(30);
    const before = store.reads();
    expect(await lines.last()).toBe(count);
    expect(store.reads() - before).toBe(1);
  });

  test.each([
    { name: "all of it", count: 250, from: 1, limit: 100 },
    { name: "a log whose oldest lines were trimmed away", count: 250, from: 120, limit: 50 },
    { name: "exactly two pages", count: 100, from: 1, limit: 50 },
    { name: "one line", count: 1, from: 1, limit: 1 },
    { name: "no line", count: 0, from: 1, limit: 10 },
  ])("page by page: $name", async ({ count, from, limit }) => {
    const lines = newestLines(storeOf(logOf(count, from)));
    const seen: number[] = [];
    let before: number | undefined;
    for (let pages = 0; pages < 100; pages++) {
      const page = await lines.page({ before, limit, text: "" });
      expect(page.entries.length).toBeLessThanOrEqual(limit);
      seen.push(...page.entries.map(({ sequence }) => sequence));
      before = page.before;
      if (before === undefined) break;
    }
    expect(seen).toEqual(
      logOf(count, from)
        .map(({ sequence }) => sequence)
        .reverse(),
    );
  });

  test.each(["", "nowhere"])(
    "before a line that is far from there begin at the end (text '%s')",
    async (text) => {
      const store = storeOf(logOf(10));
      const page = await newestLines(store).page({ before: Number.MAX_SAFE_INTEGER, limit: 3, text });
      expect(page.entries.map(({ sequence }) => sequence)).toEqual(text === "" ? [10, 9, 8] : []);
      expect(store.reads()).toBeLessThan(20);
    },
  );

  test("with a text in them, over many pages", async () => {
    const lines = newestLines(storeOf(logOf(2000)));
    const first = await lines.page({ before: undefined, limit: 3, text: "ops" });
    expect(first.entries.map(({ sequence }) => sequence)).toEqual([1998, 1995, 1992]);
    const second = await lines.page({ before: first.before, limit: 3, text: "ops" });
    expect(second.entries.map(({ sequence }) => sequence)).toEqual([1989, 1986, 1983]);
    const rare = await lines.page({ before: undefined, limit: 3, text: "rsv-7" });
    expect(rare.entries.map(({ subject }) => subject)).toEqual(["rsv-799", "rsv-798", "rsv-797"]);
    const one = await lines.page({ before: undefined, limit: 3, text: "line 1 " });
    expect(one).toEqual({ entries: [], before: undefined });
  });

  test("a text that nobody said is given up after a while, with a place to continue from", async () => {
    const lines = newestLines(storeOf(logOf(25_000)));
    const page = await lines.page({ before: undefined, limit: 10, text: "nobody" });
    expect(page).toEqual({ entries: [], before: 5001 });
    expect(await lines.page({ before: 5001, limit: 10, text: "nobody" })).toEqual({
      entries: [],
      before: undefined,
    });
  });

  test("a search leaves others their turn, though the store answers at once", async () => {
    let yields = 0;
    let isOver = false;
    const yieldOnce = (): void => {
      yields++;
      if (!isOver) setImmediate(yieldOnce);
    };
    setImmediate(yieldOnce);
    await newestLines(storeOf(logOf(5000))).page({ before: undefined, limit: 10, text: "nobody" });
    isOver = true;
    expect(yields).toBeGreaterThanOrEqual(10);
  });

  test("searches go one after the other, and too many are turned away; reading continues", async () => {
    const lines = newestLines(storeOf(logOf(5000)));
    const done: number[] = [];
    const searchFor = async (number: number) => {
      await lines.page({ before: undefined, limit: 10, text: `nobody ${number}` });
      done.push(number);
    };
    const searches = Array.from({ length: 9 }, (_, number) => searchFor(number));
    await expect(searchFor(9)).rejects.toMatchObject({ code: "overloaded" });
    expect((await lines.page({ before: undefined, limit: 10, text: "" })).entries).toHaveLength(10);
    await Promise.all(searches);
    expect(done).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    await searchFor(10);
  });

  test("a search that fails does not keep the next one from its turn", async () => {
    const store = storeOf(logOf(10));
    let isBroken = true;
    const lines = newestLines({
      readAudit: (query) => (isBroken ? Promise.reject(new Error("gone")) : store.readAudit(query)),
    });
    const query = { before: undefined, limit: 1, text: "ops" };
    await expect(lines.page(query)).rejects.toThrow("gone");
    isBroken = false;
    expect((await lines.page(query)).entries).toHaveLength(1);
  });
});

describe("the chain", () => {
  function checkOf(lines: AuditEntry[]) {
    const time = fakeClock();
    const store = storeOf(lines);
    const check = createChainCheck({ store, clock: time, now: time.wallMs });
    const done = async (): Promise<UiVerified> => {
      check.status();
      await time.advance(5000);
      return check.status();
    };
    return { time, store, check, done };
  }

  test("is checked piece by piece, and found whole", async () => {
    const { check, done } = checkOf(logOf(1200));
    expect(check.status()).toEqual({ state: "checking", lines: 0 });
    expect(await done()).toMatchObject({ state: "whole", lines: 1200 });
  });

  test("nobody looks: nothing is read", async () => {
    const { store, time } = checkOf(logOf(1200));
    await time.advance(3_600_000);
    expect(store.reads()).toBe(0);
  });

  test("new lines are checked with the next look, old ones not again at once", async () => {
    const { time, store, done } = checkOf(logOf(1200));
    await done();
    store.lines.push(...logOf(1203).slice(1200));
    const before = store.reads();
    await time.advance(11_000);
    expect(await done()).toMatchObject({ state: "whole", lines: 1203 });
    expect(store.reads() - before).toBe(1);
  });

  test.each([
    {
      name: "a changed word",
      break: (lines: AuditEntry[]) => lines.splice(699, 1, { ...at(lines, 699), detail: "Nothing happened" }),
      says: /line 700 was changed/,
    },
    {
      name: "a missing line",
      break: (lines: AuditEntry[]) => lines.splice(699, 1),
      says: /line 700 is missing/,
    },
  ])("$name breaks it, by its number", async ({ break: damage, says }) => {
    const lines = logOf(1200);
    damage(lines);
    const { done } = checkOf(lines);
    expect(await done()).toMatchObject({
      state: "broken",
      sequence: 700,
      message: expect.stringMatching(says),
    });
  });

  test("a log without its oldest lines is whole from the first that is left", async () => {
    const { done } = checkOf(logOf(1200, 300));
    expect(await done()).toMatchObject({ state: "whole", lines: 901 });
  });

  test("lines that were changed after they were checked are found when all is read again", async () => {
    const { time, store, done } = checkOf(logOf(100));
    expect(await done()).toMatchObject({ state: "whole" });
    store.lines.splice(9, 1, { ...at(store.lines, 9), by: "somebody" });
    await time.advance(11_000);
    expect(await done()).toMatchObject({ state: "whole" });
    await time.advance(600_000);
    expect(await done()).toMatchObject({ state: "broken", sequence: 10 });
  });

  test("a store that cannot be read says nothing of the chain, and is asked again", async () => {
    const time = fakeClock();
    let isAway = true;
    const { readAudit } = storeOf(logOf(5));
    const store = {
      readAudit: (query: AuditQuery) => (isAway ? Promise.reject(new Error("away")) : readAudit(query)),
    };
    const check = createChainCheck({ store, clock: time, now: time.wallMs });
    check.status();
    await time.advance(1000);
    expect(check.status()).toEqual({ state: "none", message: "The log cannot be read right now: away" });
    isAway = false;
    await time.advance(11_000);
    check.status();
    await time.advance(1000);
    expect(check.status()).toMatchObject({ state: "whole", lines: 5 });
  });
});

function at(lines: readonly AuditEntry[], index: number): AuditEntry {
  const line = lines[index];
  if (line === undefined) throw new Error(`no line ${index}`);
  return line;
}
