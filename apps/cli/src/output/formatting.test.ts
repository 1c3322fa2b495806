import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { age } from "./age.ts";
import { amountsIn, leftOf, listed, one } from "./amounts.ts";
import { stylerFor } from "./colour.ts";
import { costText, perHour } from "./price.ts";
import { table } from "./table.ts";

describe("an age", () => {
  const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];
  test.each([
    { ms: -5 * second, says: "0s" },
    { ms: 999, says: "0s" },
    { ms: 12 * second, says: "12s" },
    { ms: 2 * minute - 1, says: "119s" },
    { ms: 2 * minute, says: "2m" },
    { ms: 2 * hour - 1, says: "119m" },
    { ms: 36 * hour, says: "36h" },
    { ms: 2 * day, says: "2d" },
    { ms: 400 * day, says: "400d" },
  ])("of $ms ms is $says", ({ ms, says }) => {
    expect(age(ms)).toBe(says);
  });
});

describe("amounts in a column", () => {
  test.each([
    { name: "of how much", text: leftOf("cpu", 1500, 16_000), says: "1.5/16" },
    { name: "in round units", text: leftOf("memory", 65_011_712 * 1024, 64 * 2 ** 30), says: "62Gi/64Gi" },
    { name: "nothing of something", text: leftOf("gpu", 0, 4), says: "0/4" },
    { name: "nothing of nothing", text: leftOf("gpu", 0, 0), says: "-" },
    {
      name: "several",
      text: listed(amountsIn({ cpu: "500m", memory: "1Gi", gpu: "2" })),
      says: "0.5, 1Gi, 2 GPU",
    },
    { name: "none at all", text: listed(amountsIn({})), says: "-" },
    { name: "one that is not there", text: one("gpu", { cpu: "1" }), says: "-" },
    { name: "one", text: one("memory", { memory: "512Mi" }), says: "512Mi" },
  ])("$name", ({ text, says }) => {
    expect(text).toBe(says);
  });
});

describe("a price", () => {
  test.each([
    { price: "0.21094967296", says: "0.2109 EUR/h" },
    { price: "0", says: "0 EUR/h" },
    { price: "12.5", says: "12.5 EUR/h" },
    { price: "123456.789", says: "123457 EUR/h" },
    { price: "0.000000123456", says: "1.235e-7 EUR/h" },
    { price: undefined, says: "-" },
  ])("$price is $says", ({ price, says }) => {
    expect(perHour(price, "EUR")).toBe(says);
  });

  test("is reported with its sum, or as missing", () => {
    expect(costText({ perHour: "0.5", total: "1", currency: "USD" })).toBe("0.5 USD/h, 1 USD in all");
    expect(costText(undefined)).toContain("not priced");
  });
});

describe("colours", () => {
  test.each([
    { name: "on a terminal", host: { isTerminal: true, env: {} }, isStyled: true },
    { name: "in a file", host: { isTerminal: false, env: {} }, isStyled: false },
    { name: "unwanted", host: { isTerminal: true, env: { NO_COLOR: "1" } }, isStyled: false },
    { name: "wanted all the same", host: { isTerminal: true, env: { NO_COLOR: "" } }, isStyled: true },
    {
      name: "on a terminal without any",
      host: { isTerminal: true, env: { TERM: "dumb" } },
      isStyled: false,
    },
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
