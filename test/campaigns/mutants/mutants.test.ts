import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MUTANTS } from "./all-mutants.ts";

const ROOT = join(import.meta.dirname, "../../..");

describe("a planted bug", () => {
  // A patch that fits nowhere is never planted, and a check that is not there never fails: both would go unnoticed.
  test.each(MUTANTS)("$name: can be planted", ({ file, find, replace, caughtBy }) => {
    const source = readFileSync(join(ROOT, file), "utf8");
    expect(source.split(find)).toHaveLength(2);
    expect(replace).not.toBe(find);
    expect(caughtBy.kind !== "test" || existsSync(join(ROOT, caughtBy.file))).toBe(true);
  });

  test("is one of many, each with a name of its own", () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(25);
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
  });
});
