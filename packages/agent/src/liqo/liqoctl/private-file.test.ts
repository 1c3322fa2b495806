import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { privateFiles } from "./private-file.ts";

const folder = mkdtempSync(join(tmpdir(), "private-"));
afterAll(() => rmSync(folder, { recursive: true }));

const env = { TMPDIR: folder };
const modeOf = (path: string): number => statSync(path).mode & 0o777;

test("a file is lent to its user alone, and is gone afterwards", async () => {
  const seen = await privateFiles(env).withFile("abc", async (path) => ({
    path,
    text: readFileSync(path, "utf8"),
    modes: [modeOf(path), modeOf(dirname(path))],
  }));
  expect(seen).toMatchObject({ text: "abc", modes: [0o600, 0o700] });
  expect(dirname(dirname(seen.path))).toBe(folder);
  expect(readdirSync(folder)).toEqual([]);
});

test("a file is gone when its use fails", async () => {
  const failing = privateFiles(env).withFile("abc", () => Promise.reject(new Error("it broke")));
  await expect(failing).rejects.toThrow("it broke");
  expect(readdirSync(folder)).toEqual([]);
});

test("a file that is still lent is gone when the agent stops", async () => {
  const files = privateFiles(env);
  await files.withFile("abc", async (path) => {
    files.stop();
    expect(existsSync(dirname(path))).toBe(false);
  });
});

test("a place where nothing can be written is named", async () => {
  const using = privateFiles({ TMPDIR: join(folder, "not-there") }).withFile("abc", async () => undefined);
  await expect(using).rejects.toMatchObject({
    code: "invalid",
    message: expect.stringContaining("not-there: make it writable"),
  });
});
