import { REJECTION_CODES } from "@resource-broker/domain/testing";
import { describe, expect, test } from "vitest";
import { validate } from "../schema/validate.ts";
import { errorSchema } from "../wire/error.ts";
import { Fault, readFault, toErrorBody } from "./fault.ts";
import { FAULTS, isFaultCode } from "./fault-table.ts";

describe("the table of faults", () => {
  test.each([
    ["malformed", 400, false],
    ["invalid", 400, false],
    ["no-certificate", 401, false],
    ["forbidden", 403, false],
    ["not-found", 404, false],
    ["method-not-allowed", 405, false],
    ["no-capacity", 409, false],
    ["superseded", 409, false],
    ["ledger-conflict", 409, true],
    ["already-ended", 409, false],
    ["quota-exceeded", 409, false],
    ["key-released", 410, false],
    ["too-large", 413, false],
    ["unsupported-media", 415, false],
    ["key-mismatch", 422, false],
    ["not-yet", 422, false],
    ["ttl-too-long", 422, false],
    ["rate-limited", 429, true],
    ["internal", 500, false],
    ["not-leader", 503, true],
    ["overloaded", 503, true],
    ["store-unavailable", 503, true],
  ])("%s is %d", (code, status, retry) => {
    expect(isFaultCode(code) && FAULTS[code]).toMatchObject({ status, retry });
  });

  test.each(REJECTION_CODES)("knows the domain's rejection %s", (code) => {
    expect(isFaultCode(code)).toBe(true);
  });

  test.each(Object.entries(FAULTS))("%s says what to do", (_, { advice }) => {
    expect(advice).toMatch(/^[A-Z].*\.$/);
  });

  test("a code from outside is not looked up in a prototype", () => {
    expect(isFaultCode("constructor")).toBe(false);
  });

  test("5xx is used only where nothing was booked: a Go agent retries it without a key", () => {
    const retried = Object.entries(FAULTS).filter(([, { status }]) => status >= 500);
    expect(retried.map(([code]) => code)).toEqual([
      "internal",
      "not-leader",
      "overloaded",
      "store-unavailable",
    ]);
  });
});

describe("a fault", () => {
  const reasons = [
    { clusterID: "paris", reason: "capacity", message: "needs 3 more CPU", missing: { cpu: "3" } },
  ];
  const fault = new Fault("no-capacity", "nothing fits", {
    cause: new Error("secret"),
    details: { reasons, decisionID: "dec-1", retryAfterMs: 5 },
  });

  test("carries its code, status, retry, advice and cause", () => {
    expect(fault).toMatchObject({ name: "Fault", code: "no-capacity", status: 409, retry: false });
    expect(fault.advice).toContain("Ask for less");
    expect(fault.cause).toEqual(new Error("secret"));
    expect(fault).toBeInstanceOf(Error);
  });

  test("tells the caller everything but its cause", () => {
    const body = toErrorBody(fault);
    expect(body).toEqual({ error: "nothing fits", code: "no-capacity", reasons, decisionID: "dec-1" });
    expect(validate(errorSchema, body)).toEqual({ ok: true, value: body });
  });

  test("survives the wire", () => {
    const back = readFault({ status: 409, body: JSON.stringify(toErrorBody(fault)), retryAfterMs: 5 });
    expect(back).toMatchObject({ code: "no-capacity", message: "nothing fits", details: fault.details });
  });
});

describe("an error reply of an older broker", () => {
  test.each([
    ["plain text", 403, "CN does not match clusterID\n", "forbidden", "CN does not match clusterID"],
    ["JSON without a code", 409, '{"error":"no suitable cluster"}', "no-capacity", "no suitable cluster"],
    ["a bad quantity", 400, '{"error":"invalid quantity"}', "invalid", "invalid quantity"],
    ["a route it does not have", 404, "404 page not found", "not-found", "404 page not found"],
    ["a code from the future", 503, '{"error":"busy","code":"new"}', "overloaded", "busy"],
    ["nothing at all", 500, "", "internal", "no reason given"],
    ["a status nobody knows", 418, "teapot", "internal", "teapot"],
  ])("%s is understood", (_, status, body, code, message) => {
    expect(readFault({ status, body })).toMatchObject({ code, message });
  });
});
