import { describe, expect, test } from "vitest";
import { readWrong, type Wrong } from "../settings/testing/read-settings.ts";

const WRONG: readonly Wrong[] = [
  {
    name: "half of the prices",
    argv: ["--price-cpu=0.04"],
    line: "prices by flag also need --price-memory and --price-currency",
  },
  {
    name: "a price that is no number",
    argv: ["--price-cpu=cheap", "--price-memory=1", "--price-currency=EUR"],
    line: '--price-cpu: "cheap" is not a decimal number of at most 12 digits before and after the point; write for example 0.042',
  },
  {
    name: "a currency that is none",
    argv: ["--price-cpu=1", "--price-memory=1", "--price-currency=eur"],
    line: '--price-currency: "eur" is not a currency code of three capital letters; write for example EUR',
  },
  {
    name: "a currency without prices",
    argv: ["--price-currency=EUR"],
    line: "--price-currency has no effect without prices: add --price-cpu and --price-memory, --price-configmap or --price-sheet",
  },
  {
    name: "prices in two places",
    argv: ["--price-cpu=1", "--price-sheet=/prices.json"],
    line: "--price-cpu and --price-sheet exclude each other: give prices in one place",
  },
  {
    name: "prices in a ConfigMap and a sheet",
    argv: ["--price-configmap=a/b", "--price-sheet=/prices.json"],
    line: "--price-configmap and --price-sheet exclude each other: give prices in one place",
  },
  {
    name: "a ConfigMap without its namespace",
    argv: ["--price-configmap=prices"],
    line: '--price-configmap: "prices" does not name a ConfigMap: write namespace/name',
  },
  {
    name: "a currency beside a sheet that is none",
    argv: ["--price-sheet=/prices.json", "--price-currency=€"],
    line: '--price-currency: "€" is not a currency code of three capital letters; write for example EUR',
  },
];

describe("wrong settings are one line with the remedy", () => {
  test.each(WRONG)("$name", async (wrong) => {
    expect(await readWrong(wrong)).toEqual({ ok: false, problems: [wrong.line] });
  });
});
