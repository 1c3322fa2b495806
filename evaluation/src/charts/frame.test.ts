import { expect, test } from "vitest";
import { legendRows, wrapText } from "./frame.ts";

test.each([
  { name: "nothing is broken that fits", content: "one two", characters: 10, lines: ["one two"] },
  { name: "lines break at spaces", content: "one two three", characters: 7, lines: ["one two", "three"] },
  { name: "a word is never broken", content: "extraordinary", characters: 4, lines: ["extraordinary"] },
])("$name", ({ content, characters, lines }) => {
  expect(wrapText(content, characters)).toEqual(lines);
});

test("a legend takes as many rows as its labels need", () => {
  const labelled = (label: string) => ({ label, style: "ours", points: [] }) as const;
  const long = "a label that takes a third of the width";
  expect(legendRows([labelled("short"), labelled("also short")])).toHaveLength(1);
  expect(legendRows([1, 2, 3].map(() => labelled(long)))).toHaveLength(2);
});
