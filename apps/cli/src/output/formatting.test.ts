import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { printListing } from "./listing.ts";
import { properties, stylerFor, table } from "./print.ts";
import { age, amountsIn, costText, distance, leftIn, listed, one, perHour, when } from "./text.ts";

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];

describe("a table", () => {
  const columns = [
    { title: "NAME", value: ({ name }: { name: string; use: string }) => name },
    { title: "USE", value: ({ use }: { name: string; use: string }) => use },
  ];

  test("aligns its columns and leaves no space at the end; of nothing it is nothing", () => {
    const items = [
      { name: "broker", use: "server" },
      { name: "r", use: "" },
    ];
    expect(table(columns, items)).toBe("NAME     USE\nbroker   server\nr\n");
    expect(table(columns, [])).toBe("");
  });

  test("of properties has one a line", () => {
    const rows = [["Name", "rome"] as const, ["Status", "valid"] as const];
    expect(properties(rows)).toBe("Name:     rome\nStatus:   valid\n");
  });

  test("that is watched from when it is empty has its titles above the first row, and only there", async () => {
    const states: readonly (readonly string[])[] = [[], ["rome"], ["rome", "oslo"]];
    let [at, out] = [0, ""];
    const read = async () => ({
      items: states[at] ?? [],
      dataOf: (name: string) => ({ name }),
      nameOf: (name: string) => name,
      fingerprintOf: (name: string) => name,
      columns: [{ title: "NAME", value: (name: string) => name }],
    });
    const untilChange = async () => {
      if (++at === states.length) throw new Error("the end");
    };
    const host = {
      out: (text: string) => void (out += text),
      note: () => undefined,
      now: () => 0,
      env: {},
      pause: untilChange,
    };
    await expect(printListing(read, { output: "table", watch: true }, host)).rejects.toThrow("the end");
    expect(out).toBe("NAME\nrome\noslo\n");
  });
});

test.each([
  { ms: -5 * second, says: "0s" },
  { ms: 999, says: "0s" },
  { ms: 12 * second, says: "12s" },
  { ms: 2 * minute - 1, says: "119s" },
  { ms: 2 * minute, says: "2m" },
  { ms: 2 * hour - 1, says: "119m" },
  { ms: 36 * hour, says: "36h" },
  { ms: 2 * day, says: "2d" },
])("an age of $ms ms is $says", ({ ms, says }) => {
  expect(age(ms)).toBe(says);
});

test.each([
  { offset: 999, says: "just now" },
  { offset: second, says: "in 1 second" },
  { offset: 59 * second, says: "in 59 seconds" },
  { offset: minute, says: "in 1 minute" },
  { offset: -90 * minute, says: "90 minutes ago" },
  { offset: 47 * hour, says: "in 47 hours" },
  { offset: 365 * day - second, says: "in 365 days" },
  { offset: -3 * day, says: "3 days ago" },
])("a time $offset ms away is $says, with its date in front", ({ offset, says }) => {
  const now = Date.UTC(2026, 0, 15, 12);
  expect(distance(now + offset, now)).toBe(says);
  expect(when(now + offset, now)).toBe(`${new Date(now + offset).toISOString().slice(0, 10)} (${says})`);
});

const left = (available: object, allocatable: object, name: "cpu" | "memory" | "gpu") =>
  leftIn({ available, allocatable }, name);

test.each([
  { text: left({ cpu: "1500m" }, { cpu: "16" }, "cpu"), says: "1.5/16" },
  { text: left({ memory: "65011712Ki" }, { memory: "64Gi" }, "memory"), says: "62Gi/64Gi" },
  { text: left({ gpu: "0" }, { gpu: "4" }, "gpu"), says: "0/4" },
  { text: left({}, {}, "gpu"), says: "-" },
  { text: listed(amountsIn({ cpu: "500m", memory: "1Gi", gpu: "2" })), says: "0.5, 1Gi, 2 GPU" },
  { text: listed(amountsIn({})), says: "-" },
  { text: one("gpu", { cpu: "1" }), says: "-" },
  { text: one("memory", { memory: "512Mi" }), says: "512Mi" },
  { text: perHour("0.21094967296", "EUR"), says: "0.2109 EUR/h" },
  { text: perHour("0", "EUR"), says: "0 EUR/h" },
  { text: perHour("12.5", "EUR"), says: "12.5 EUR/h" },
  { text: perHour("123456.789", "EUR"), says: "123457 EUR/h" },
  { text: perHour("0.000000123456", "EUR"), says: "1.235e-7 EUR/h" },
  { text: perHour(undefined, "EUR"), says: "-" },
  { text: costText({ perHour: "0.5", total: "1", currency: "USD" }), says: "0.5 USD/h, 1 USD in all" },
  { text: costText(undefined), says: "none, the provider is not priced" },
])("an amount or a price in a column is $says", ({ text, says }) => {
  expect(text).toBe(says);
});

describe("colours", () => {
  test.each([
    { name: "on a terminal", host: { isTerminal: true, env: {} }, isStyled: true },
    { name: "in a file", host: { isTerminal: false, env: {} }, isStyled: false },
    { name: "unwanted", host: { isTerminal: true, env: { NO_COLOR: "1" } }, isStyled: false },
    { name: "wanted all the same", host: { isTerminal: true, env: { NO_COLOR: "" } }, isStyled: true },
    { name: "on a dumb terminal", host: { isTerminal: true, env: { TERM: "dumb" } }, isStyled: false },
  ])("$name", ({ host, isStyled }) => {
    expect(stylerFor(host)("Ready", "good") !== "Ready").toBe(isStyled);
  });

  test("take no room in a table", () => {
    const styled = stylerFor({ isTerminal: true, env: {} });
    const columns = [
      { title: "PHASE", value: (word: string) => styled(word, "good") },
      { title: "NEXT", value: () => "x" },
    ];
    const [, first = "", second = ""] = table(columns, ["Active", "Reserved"]).split("\n");
    expect([first, second].map(stripVTControlCharacters)).toEqual(["Active     x", "Reserved   x"]);
  });
});
