import { Fault } from "@resource-broker/base";
import { expect, test } from "vitest";
import { connectionFault } from "./connection-fault.ts";
import { HINTS } from "./testing/client-of.ts";

const url = { text: "https://broker:8443", host: "broker", port: 8443 };
const error = (code: string, message = ""): Error => Object.assign(new Error(message), { code });

test.each([
  ["ENOTFOUND", "", "the name broker is not known"],
  ["EAI_AGAIN", "", "the DNS does not answer for broker"],
  ["ECONNREFUSED", "", "nothing listens there"],
  ["EHOSTUNREACH", "", "no route to that address"],
  ["ECONNRESET", "", "the connection broke"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "", "put the broker's ca.crt into the folder of --broker-cert-path"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "", "certificate is not made for broker"],
  ["ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", "", "refuses our certificate"],
  ["ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED", "", "refuses our certificate"],
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "", "refuses our certificate"],
  ["EPROTO", "SSL routines:ssl3_read_bytes:tlsv1 alert unknown ca", "refuses our certificate"],
  ["EPROTO", "SSL routines:ssl3_read_bytes:ssl/tls alert bad certificate", "refuses our certificate"],
  ["EPROTO", "SSL routines:tls_validate_record_header:wrong version number", "does not speak TLS"],
  ["EPROTO", "SSL routines:ssl3_read_bytes:tlsv1 alert protocol version", "share no version of TLS"],
  ["ESOMETHING", "strange things", "strange things"],
  ["ESOMETHING", "", "ESOMETHING"],
])("%s %s: it is said what can be done", (code, message, expected) => {
  const cause = error(code, message);
  const fault = connectionFault(cause, url, HINTS);
  expect(fault).toMatchObject({ code: "unreachable", cause });
  expect(fault.message).toMatch(/^https:\/\/broker:8443: /);
  expect(fault.message).toContain(expected);
});

test("a name with several addresses that all fail reports each", () => {
  const failures = new AggregateError([new Error("one"), new Error("two")], "");
  expect(connectionFault(failures, url, HINTS).message).toBe("https://broker:8443: one, two");
});

test("a fault of ours stays what it is", () => {
  const fault = new Fault("unreachable", "no answer");
  expect(connectionFault(fault, url, HINTS)).toBe(fault);
});
