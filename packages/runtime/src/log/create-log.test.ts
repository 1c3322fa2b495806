import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createLog } from "./create-log.ts";

function logged(format: "json" | "pretty", useColours = false): string {
  const out = new PassThrough();
  const log = createLog({ level: "info", format, useColours }, out);
  log.info({ reservation: "rsv-1", refusedBy: { capacity: 2 } }, "paris lends");
  return String(out.read());
}

test("a line for machines is JSON with its fields", () => {
  expect(JSON.parse(logged("json"))).toMatchObject({ level: 30, msg: "paris lends", reservation: "rsv-1" });
});

test("a line for people has time, level, message and fields", () => {
  expect(logged("pretty")).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} INFO {2}paris lends reservation=rsv-1 refusedBy={"capacity":2}\n$/,
  );
  expect(logged("pretty", true)).toContain("\x1b[32m");
});
