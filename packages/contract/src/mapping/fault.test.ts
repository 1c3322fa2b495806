import { Fault, isFaultCode } from "@resource-broker/base";
import { REJECTION_CODES } from "@resource-broker/domain/testing";
import { describe, expect, test } from "vitest";
import { validate } from "../schema/validate.ts";
import { errorSchema } from "../wire/error.ts";
import { readFault, toErrorBody } from "./fault.ts";

test.each(REJECTION_CODES)("the table of faults knows the domain's rejection %s", (code) => {
  expect(isFaultCode(code)).toBe(true);
});

describe("a fault", () => {
  const reasons = [
    { clusterID: "paris", reason: "capacity", message: "needs 3 more CPU", missing: { cpu: "3" } },
  ];
  const fault = new Fault("no-capacity", "nothing fits", {
    cause: new Error("secret"),
    details: { reasons, decisionID: "dec-1", retryAfterMs: 5 },
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
    ["another one from the future", 422, '{"error":"too high","code":"newer"}', "invalid", "too high"],
    ["nothing at all", 500, "", "internal", "no reason given"],
    ["a status nobody knows", 418, "teapot", "internal", "teapot"],
  ])("%s is understood", (_, status, body, code, message) => {
    expect(readFault({ status, body })).toMatchObject({ code, message });
  });
});
