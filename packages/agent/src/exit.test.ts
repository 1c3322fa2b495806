import { Fault } from "@resource-broker/base";
import { expect, test } from "vitest";
import { describeEnd, exitCodeOf } from "./exit.ts";

const withCode = (code: string, message: string): Error => Object.assign(new Error(message), { code });

test.each([
  {
    name: "a wrong kubeconfig",
    error: new Fault("invalid", "no kubeconfig"),
    code: 2,
    line: "no kubeconfig",
  },
  {
    name: "a missing certificate",
    error: new Fault("no-certificate", "certificate folder /x: ENOENT"),
    code: 2,
    line: "certificate folder /x: ENOENT",
  },
  {
    name: "a cluster that does not answer",
    error: new Fault("unreachable", "connection refused"),
    code: 1,
    line: "connection refused",
  },
  {
    name: "missing rights",
    error: new Fault("forbidden", "may not get leases"),
    code: 1,
    line: "may not get leases",
  },
  {
    name: "a taken port",
    error: withCode("EADDRINUSE", "listen :8081"),
    code: 1,
    line: "listen :8081: another process listens there; stop it, or choose another --metrics-bind-address or --health-probe-bind-address",
  },
  {
    name: "a message of several lines",
    error: new Error("torn\n  at line 1"),
    code: 1,
    line: "torn at line 1",
  },
  { name: "what is no error", error: "torn", code: 1, line: "torn" },
])("$name ends the agent with code $code and one line", ({ error, code, line }) => {
  expect([exitCodeOf(error), describeEnd(error)]).toEqual([code, line]);
});
