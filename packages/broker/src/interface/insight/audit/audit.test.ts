import { describe, expect, test } from "vitest";
import { CHAIN_START, type ChainLink, canonical, nextLink } from "../../../store/common/audit.ts";
import type { AuditEntry, AuditQuery } from "../../../store/store.ts";
import { newestLines } from "./audit-tail.ts";

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
});
