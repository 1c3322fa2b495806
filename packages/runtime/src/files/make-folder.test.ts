import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { makeFolder } from "./make-folder.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "make-folder-"));
  return () => rmSync(dir, { recursive: true, force: true });
});

test("a folder is made with all those above it, and the highest new one is named", () => {
  expect(makeFolder(join(dir, "a/b/c"), 0o700)).toBe(join(dir, "a"));
  expect(statSync(join(dir, "a/b/c")).mode & 0o777).toBe(0o700);
  expect(makeFolder(join(dir, "a/b/c"))).toBeUndefined();
});

test.each([
  { name: "a file is in the way", path: "file/x", code: "ENOTDIR" },
  { name: "it is a file", path: "file", code: "EEXIST" },
])("$name: $code", ({ path, code }) => {
  writeFileSync(join(dir, "file"), "");
  expect(() => makeFolder(join(dir, path))).toThrow(expect.objectContaining({ code }) as Error);
});

test.runIf(existsSync("/proc/self"))("where no folder can be made, that is said at once", () => {
  expect(() => makeFolder("/proc/foo/bar")).toThrow("no folder can be made here, mkdir '/proc/foo'");
});
