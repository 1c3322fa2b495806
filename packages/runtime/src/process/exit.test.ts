import { expect, test } from "vitest";
import { describeFailure } from "./run-until-signal.ts";

const withCode = (code: string, message: string): Error => Object.assign(new Error(message), { code });
const FLAGS = ["http-port", "metrics-bind-address", "health-probe-bind-address"];

test.each([
  {
    name: "a taken port",
    error: withCode("EADDRINUSE", "listen :8443"),
    flags: FLAGS,
    line: "listen :8443: another process listens there; stop it, or choose another --http-port, --metrics-bind-address or --health-probe-bind-address",
  },
  {
    name: "a taken port that one flag chooses",
    error: withCode("EADDRINUSE", "listen :80"),
    flags: ["port"],
    line: "listen :80: another process listens there; stop it, or choose another --port",
  },
  {
    name: "missing rights",
    error: withCode("EACCES", "listen :80"),
    flags: FLAGS,
    line: "listen :80: permission denied; ports below 1024 and folders of other users need permissions",
  },
  { name: "any other error", error: new Error("torn"), flags: FLAGS, line: "torn" },
  { name: "what is no error at all", error: "torn", flags: FLAGS, line: "torn" },
])("$name is described with its remedy", ({ error, flags, line }) => {
  expect(describeFailure(error, flags)).toBe(line);
});
