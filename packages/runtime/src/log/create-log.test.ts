import { PassThrough } from "node:stream";
import type { Log } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import { createLog, type LogOptions, logOptions } from "./create-log.ts";

function logged(options: Partial<LogOptions>, use: (log: Log) => void): string {
  const out = new PassThrough();
  use(createLog({ level: "info", format: "json", useColours: false, ...options }, out));
  return String(out.read() ?? "");
}

const HOSTILE = "fine\n\u001b[2J\u009b31m\u202eemor\u200b";

const logGrant = (log: Log): void =>
  log.info({ reservation: "rsv-1", refusedBy: { capacity: 2 }, nothing: undefined }, "paris lends");

describe("a line for machines", () => {
  test("is JSON with its fields", () => {
    const line = logged({}, logGrant);
    expect(line.endsWith("}\n")).toBe(true);
    expect(JSON.parse(line)).toEqual({
      level: 30,
      time: expect.any(Number),
      reservation: "rsv-1",
      refusedBy: { capacity: 2 },
      msg: "paris lends",
    });
  });

  test("says what an error was, and why", () => {
    const cause = new RangeError("too far");
    const err = Object.assign(new Error("it broke", { cause }), { code: "EBROKE" });
    expect(JSON.parse(logged({}, (log) => log.warn({ err }, "alas")))).toMatchObject({
      level: 40,
      err: {
        type: "Error",
        message: "it broke",
        code: "EBROKE",
        stack: expect.stringContaining("create-log.test.ts"),
        cause: { type: "RangeError", message: "too far" },
      },
    });
  });

  test("is written even when a field cannot be", () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    expect(JSON.parse(logged({}, (log) => log.info({ circle }, "round")))).toMatchObject({
      msg: "round",
      unprintable: expect.stringContaining("circular"),
    });
    expect(logged({ format: "pretty" }, (log) => log.info({ circle }, "round"))).toContain("round circle=");
  });
});

test("a line for people has time, level, message and fields", () => {
  expect(logged({ format: "pretty" }, logGrant)).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} INFO {2}paris lends reservation=rsv-1 refusedBy={"capacity":2}\n$/,
  );
  expect(logged({ format: "pretty", useColours: true }, logGrant)).toContain("\x1b[32m");
});

test.each([
  ["debug", "info warn error"],
  ["info", "info warn error"],
  ["warn", "warn error"],
  ["error", "error"],
] as const)("the level %s shows %s", (level, shown) => {
  const lines = logged({ level }, (log) => {
    log.info({}, "info");
    log.warn({}, "warn");
    log.error({}, "error");
  });
  expect([...lines.matchAll(/"msg":"(\w+)"/g)].map(([, message]) => message).join(" ")).toBe(shown);
});

test.each([
  ["auto", true, "pretty"],
  ["auto", false, "json"],
  ["json", true, "json"],
  ["pretty", false, "pretty"],
] as const)("%s on a terminal (%s) is %s", (format, isTerminal, wanted) => {
  const settings = { "log-level": "info", "log-format": format } as const;
  expect(logOptions(settings, { isTerminal, noColour: false }).format).toBe(wanted);
});

test.each(["json", "pretty"] as const)("a %s line is one line, whatever others put into it", (format) => {
  const circle: Record<string, unknown> = { text: HOSTILE };
  circle["self"] = circle;
  const use = (log: Log): void => {
    log.warn({ name: HOSTILE, list: [HOSTILE], err: new Error(HOSTILE) }, HOSTILE);
    log.warn({ circle }, HOSTILE);
  };
  const text = logged({ format }, use);
  expect(text.split("\n")).toHaveLength(3);
  expect(text).toMatch(/^[\n\u0020-\u007e]*$/u);
});
