import { expect, test } from "vitest";
import { columnsOf, factorText, markdownTable, numberText, tableOf, valueText, withUnit } from "./format.ts";

test.each([
  [0, "0"],
  [151_798, "151,798"],
  [99.96, "100"],
  [87.31, "87.3"],
  [9.996, "10.0"],
  [4.561, "4.56"],
  [0.9996, "1.00"],
  [0.3, "0.3"],
  [0.03123, "0.0312"],
  [0.000_004_2, "0.000004"],
  [-4.561, "-4.56"],
])("%d is written with three figures: %s", (value, text) => {
  expect(numberText(value)).toBe(text);
});

test("whole numbers were counted and have no decimals", () => {
  expect([valueText(3), valueText(3.5)]).toEqual(["3", "3.50"]);
});

test("what was not measured has no unit either", () => {
  expect([withUnit(undefined, "ms"), withUnit(4.5, "ms")]).toEqual(["–", "4.50 ms"]);
});

test.each([
  { name: "far better", ours: 1, theirs: 433, text: "433×" },
  { name: "much better", ours: 0.149, theirs: 2.81, text: "19×" },
  { name: "somewhat better", ours: 1, theirs: 2.54, text: "2.5×" },
  { name: "the same within noise", ours: 100, theirs: 103, text: "the same" },
  { name: "worse", ours: 60, theirs: 40, text: "worse: 1.5×" },
  { name: "nothing to compare with", ours: 60, theirs: undefined, text: "–" },
  { name: "nothing measured", ours: 0, theirs: 5, text: "–" },
])("a figure that is $name is called $text", ({ ours, theirs, text }) => {
  expect(factorText(ours, theirs)).toBe(text);
});

test("a column is called by its head, and says of each row a text, a count, or a figure with its unit", () => {
  const rows = [
    { name: "x", count: 1234, median: 4.561 },
    { name: "y", count: 2 },
  ];
  const table = tableOf(rows, {
    "": ({ name }) => name,
    count: ({ count }) => count,
    ...columnsOf("ms", "median"),
  });
  expect(table.split("\n")).toEqual([
    "|  | count | median |",
    "| --- | --: | --: |",
    "| x | 1,234 | 4.56 ms |",
    "| y | 2 | – |",
  ]);
});

test("a cell with a bar or a line break stays one cell", () => {
  expect(markdownTable(["a", "b"], [["x|y", "1\n2"]])).toBe("| a | b |\n| --- | --: |\n| x\\|y | 1 2 |");
});
