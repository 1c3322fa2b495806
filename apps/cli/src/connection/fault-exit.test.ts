import { FAULTS, Fault, isFaultCode } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import { EXIT_CODES } from "../cli/exit-code.ts";
import { asCommandError } from "./fault-exit.ts";

describe("what the broker refuses", () => {
  const EXITS: Readonly<Record<string, number>> = {
    "no-certificate": 5,
    forbidden: 5,
    "no-capacity": 3,
    "quota-exceeded": 3,
    superseded: 6,
    "ledger-conflict": 6,
    "already-ended": 6,
    "key-released": 6,
    "key-mismatch": 6,
  };

  test.each(Object.keys(FAULTS).filter(isFaultCode))("%s has an exit status and keeps its words", (code) => {
    const who = { folder: "certs/clusters/rome", name: "rome" };
    const error = asCommandError(new Fault(code, "what went wrong"), who);
    expect(EXIT_CODES[error.exit].code).toBe(EXITS[code] ?? 1);
    expect(error.message.split("\n")[0]).toBe("what went wrong");
  });
});
