import { describe, expect, test } from "vitest";
import { FAULTS, Fault, faultBody, isFaultCode, toFault } from "./fault.ts";

describe("the table of faults", () => {
  test.each(Object.entries(FAULTS))("%s says what to do", (_, { advice }) => {
    expect(advice).toMatch(/^[A-Z].*\.$/);
  });

  test("a code from outside is not looked up in a prototype", () => {
    expect(isFaultCode("constructor")).toBe(false);
  });

  test("5xx is used only where nothing was reserved: a Go agent retries it without a key", () => {
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
  const fault = new Fault("no-capacity", "nothing fits", {
    cause: new Error("secret"),
    details: { retryAfterMs: 5 },
  });

  test("carries its code, status, retry, advice and cause", () => {
    expect(fault).toMatchObject({ name: "Fault", code: "no-capacity", status: 409, retry: false });
    expect(fault.advice).toContain("Ask for less");
    expect(fault.cause).toEqual(new Error("secret"));
    expect(fault).toBeInstanceOf(Error);
  });

  test("shows a caller its message and code, made safe, and not its cause", () => {
    expect(faultBody(fault)).toEqual({ error: "nothing fits", code: "no-capacity" });
    expect(faultBody(new Fault("invalid", "ro\u202eme")).error).toBe("ro\\u{202e}me");
    expect(faultBody(new Fault("invalid", "x".repeat(65_537))).error).toHaveLength(65_536);
  });

  test("is made of any error: one that is no fault is a bug", () => {
    expect(toFault(fault)).toBe(fault);
    const error = new TypeError("no such field");
    expect(toFault(error)).toMatchObject({ code: "internal", message: "no such field", cause: error });
    expect(toFault("text")).toMatchObject({ code: "internal", message: "text" });
  });
});
