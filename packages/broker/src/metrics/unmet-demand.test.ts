import { expect, test } from "vitest";
import { UnmetDemand } from "./unmet-demand.ts";

const MINUTE = 60_000;

test("what could not be served counts for five minutes, and is then forgotten", () => {
  const unmet = new UnmetDemand(() => undefined);
  unmet.add("target", 0);
  unmet.add("target", 3 * MINUTE);
  unmet.add("quota", 3 * MINUTE);
  expect(unmet.count("target", 5 * MINUTE - 1)).toBe(2);
  expect(unmet.count("quota", 5 * MINUTE - 1)).toBe(1);
  expect(unmet.count("target", 5 * MINUTE)).toBe(1);
  expect(unmet.count("target", 8 * MINUTE)).toBe(0);
});
