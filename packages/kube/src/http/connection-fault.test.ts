import { Fault } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import { connectionFault } from "./connection-fault.ts";

const from = { server: "https://10.0.0.1:6443", origin: 'context "rome" of /config' };
const failure = (code: string) => Object.assign(new Error("first line\nsecond line"), { code });

describe("a server that cannot be reached", () => {
  test.each([
    ["ENOTFOUND", "its name is not known"],
    ["EAI_AGAIN", "check DNS"],
    ["EHOSTUNREACH", "check the network"],
    ["ETIMEDOUT", "it does not answer"],
    ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "it does not accept our client certificate"],
    ["ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE", "it does not accept our client certificate"],
    ["ESOMETHING", "check address, network and certificates"],
  ])("with %s is reported in one line with what to check", (code, says) => {
    const fault = connectionFault(failure(code), from);
    expect(fault).toMatchObject({ code: "unreachable", retry: true, cause: { code } });
    for (const words of [from.server, from.origin, says, `(first line [${code}])`]) {
      expect(fault.message).toContain(words);
    }
    expect(fault.message).not.toContain("\n");
  });

  test("at several addresses is told by the first", () => {
    const errors = [new Error("connect ECONNREFUSED ::1:1"), new Error("connect ECONNREFUSED 127.0.0.1:1")];
    const error = Object.assign(new AggregateError(errors), { code: "ECONNREFUSED" });
    expect(connectionFault(error, from).message).toContain("(connect ECONNREFUSED ::1:1 [ECONNREFUSED])");
  });

  test("for a reason that is a fault already keeps it", () => {
    const fault = new Fault("invalid", "the token is empty");
    expect(connectionFault(fault, from)).toBe(fault);
  });
});
