import { expect, test } from "vitest";
import { savedNote } from "./money-page.tsx";

test.each([
  [6, 2, "25 % less than at the mean price"],
  [6, -1, "20 % more than at the mean price"],
  [6, 0, "as much as at the mean price"],
  [0, 0, "nothing to compare yet"],
])("of %d spent, saved %d is %s", (spent, saved, note) => {
  expect(savedNote({ spent, saved })).toBe(note);
});
