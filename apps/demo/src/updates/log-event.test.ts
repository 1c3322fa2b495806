import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { followLog } from "../start/start-agents.ts";
import { logEvent } from "./log-event.ts";

const TIME = Date.UTC(2026, 6, 1, 10);
const line = (level: number, msg: string, more: object = {}) =>
  JSON.stringify({ level, time: TIME, ...more, msg });

test.each([
  {
    name: "an agent that is ready",
    text: line(30, "the agent is running"),
    level: "info",
    says: "the agent is running",
  },
  { name: "a warning", text: line(40, "not advertised"), level: "warn", says: "not advertised" },
  {
    name: "an error with its cause",
    text: line(50, "a commit failed", { error: "the disk is full" }),
    level: "error",
    says: "a commit failed: the disk is full",
  },
])("$name is reported", ({ text, level, says }) => {
  expect(logEvent("rome", text)).toEqual({
    at: "2026-07-01T10:00:00.000Z",
    source: "rome",
    level,
    text: says,
  });
});

test.each([
  { name: "small talk", text: line(30, "Liqo is not installed") },
  { name: "a stack trace", text: "    at main (file:///x.ts:1:1)" },
  { name: "other JSON", text: '{"msg":"hello"}' },
  { name: "null", text: "null" },
])("$name is not told", ({ text }) => {
  expect(logEvent("rome", text)).toBeUndefined();
});

test("a log is followed line by line from its place on, whole lines only", async () => {
  const folder = await mkdtemp(join(tmpdir(), "log-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "agent.log");
  const lines = followLog(file, 4);
  expect(await lines()).toEqual([]);
  await writeFile(file, "old\none\ntw");
  expect(await lines()).toEqual(["one"]);
  expect(await lines()).toEqual([]);
  await appendFile(file, "o\n\nthree — drei\n");
  expect(await lines()).toEqual(["two", "three — drei"]);
  await appendFile(file, `${"x".repeat(100_000)}\nfour\n`);
  const rest = [...(await lines()), ...(await lines())];
  expect(rest.at(-1)).toBe("four");
});
