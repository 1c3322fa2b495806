import { expect, test } from "vitest";
import { closest } from "./closest.ts";

const KNOWN = ["weights", "ratings", "staleness", "defaultTTL", "maxTTL", "rome"];

test.each([
  ["weigths", "weights"],
  ["weight", "weights"],
  ["Staleness", "staleness"],
  ["default-ttl", "defaultTTL"],
  ["maxttl", "maxTTL"],
  ["colour", undefined],
  ["roem", "rome"],
  ["nope", undefined],
  ["", undefined],
  ["x".repeat(100_000), undefined],
])("%s means %s", (word, meant) => {
  expect(closest(word, KNOWN)).toBe(meant);
});
