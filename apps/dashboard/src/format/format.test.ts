import { expect, test } from "vitest";
import {
  amountsOf,
  amountsText,
  byteSize,
  count,
  namesIn,
  percent,
  plainNumber,
  quantitiesText,
  quantityText,
} from "./amounts.ts";
import { moneyText, rateText } from "./money.ts";
import { localized, sentence } from "./sentence.ts";
import { agoText, leftText, spanText } from "./time.ts";

test.each([
  [0, "0"],
  [0.25, "0.25"],
  [12.54, "12.5"],
  [1240.4, "1,240"],
  [-3, "-3"],
])("the number %d reads %s", (value, text) => {
  expect(plainNumber(value)).toBe(text);
});

test.each([
  [0, "0 B"],
  [1023, "1,023 B"],
  [512 * 2 ** 20, "512 MiB"],
  [8 * 2 ** 30, "8 GiB"],
  [1.5 * 2 ** 40, "1.5 TiB"],
])("%d bytes read %s", (bytes, text) => {
  expect(byteSize(bytes)).toBe(text);
});

test("every known resource is shown where there is some of it", () => {
  const extended = { "hugepages-2Mi": "64Mi", "amd.com/gpu": "1" };
  const asked = { cpu: "3500m", memory: "8Gi", gpu: "0", storage: "20Gi", extended };
  const amounts = amountsOf(asked);
  expect(amountsText(amounts)).toBe("3.5 CPU · 8 GiB · 20 GiB Storage · 64 MiB HugePages-2Mi");
  expect(namesIn(amounts)).toEqual(["cpu", "memory", "gpu", "storage", "hugepages-2Mi"]);
  expect(quantitiesText(asked).replaceAll("\u00a0", " ")).toBe(
    "3.5 CPU · 8 GiB · 20 GiB Storage · 64 MiB HugePages-2Mi · 1 amd.com/gpu",
  );
  expect(amountsText(amountsOf())).toBe("nothing");
  expect(namesIn(amountsOf())).toEqual(["cpu", "memory", "gpu"]);
});

test("one is one, and the rest are many", () => {
  expect(count(1, "reservation")).toBe("1 reservation");
  expect(count(10_000, "reservation")).toBe("10,000 reservations");
  expect(percent(0.0123)).toBe("1.2 %");
  expect(percent(0.5)).toBe("50 %");
});

test.each([
  [41.2, "EUR", "€41.20"],
  [0.041, "EUR", "€0.041"],
  [0.0051, "EUR", "€0.0051"],
  [0, "EUR", "€0.00"],
  [2, "CREDITS", "2.00 CREDITS"],
])("%d %s reads %s", (amount, currency, text) => {
  expect(moneyText(amount, currency)).toBe(text);
});

test.each([
  [1.6, "€1.600"],
  [0.0955, "€0.096"],
  [0.0042, "€0.0042"],
  [-0.5, "−€0.500"],
])("a rate of %d reads %s: a column of them stands in line", (amount, text) => {
  expect(rateText(amount, "EUR")).toBe(text);
});

test.each([
  ["cpu", "126400m", "126.4 CPU"],
  ["memory", "559Gi", "559 GiB"],
  ["memory", "1500M", "1.4 GiB"],
  ["gpu", "8", "8 GPU"],
  ["cpu", "many", "many"],
] as const)("the %s quantity %s reads %s", (resource, quantity, text) => {
  expect(quantityText(resource, quantity)).toBe(text);
});

test.each([
  [0, "just now"],
  [13_000, "10 s ago"],
  [61_000, "1 min ago"],
  [7_200_000, "2 h ago"],
  [3 * 86_400_000, "3 d ago"],
])("%d ms ago reads %s", (ageMs, text) => {
  expect(agoText(ageMs)).toBe(text);
});

test("what is left is rough in lists and exact in a countdown", () => {
  expect(leftText(0)).toBe("now");
  expect(leftText(30_000)).toBe("< 1 min");
  expect(leftText(3_600_000)).toBe("1 h");
  expect(spanText(9_000)).toBe("9 s");
  expect(spanText(189_000)).toBe("3 min 09 s");
  expect(spanText(3_840_000)).toBe("1 h 04 min");
  expect(spanText(-5)).toBe("0 s");
});

test("times inside a sentence are told in the reader's clock", () => {
  const result = localized("expires 2026-11-16T00:45:20.447Z at the latest");
  expect(result).not.toContain("2026-11-16T");
  expect(result).toMatch(/^expires .+ at the latest$/);
});

test.each([
  ["paris asked for 6 CPU / 24Gi Memory", "paris asked for 6 CPU\u00a0· 24\u00a0GiB"],
  ["16 CPU / 7.45Gi Memory / 2 GPU", "16 CPU\u00a0· 7.45\u00a0GiB\u00a0· 2 GPU"],
  ["2 CPU / 1 GPU / 1Gi HugePages-2Mi", "2 CPU\u00a0· 1 GPU\u00a0· 1\u00a0GiB\u00a0HugePages-2Mi"],
  ["and/or 3 / 4", "and/or 3 / 4"],
])("%s reads %s", (result, text) => {
  expect(localized(result)).toBe(text);
});

test.each([
  ["no such reservation", "No such reservation."],
  ["The ledger is shut.", "The ledger is shut."],
  ["", ""],
])("%j as a sentence is %j", (result, text) => {
  expect(sentence(result)).toBe(text);
});
