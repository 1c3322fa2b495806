import { describe, expect, test } from "vitest";
import { connectionError } from "./connection-problem.ts";

describe("what the network says", () => {
  const line = {
    url: new URL("https://broker.example:8443"),
    credentials: { folder: "certs/ops", name: "ops" },
  };
  const failure = (code: string, message = ""): Error => Object.assign(new Error(message), { code });

  test.each([
    { error: failure("ENOTFOUND"), exit: "error", says: "the name broker.example is not known" },
    { error: failure("ECONNRESET"), exit: "error", says: "the connection was closed" },
    { error: failure("CERT_HAS_EXPIRED"), exit: "auth", says: "the broker's own certificate has expired" },
    { error: failure("ERR_TLS_CERT_ALTNAME_INVALID"), exit: "auth", says: "is not valid for broker.example" },
    {
      error: failure("ERR_SSL_X", "ssl alert: tlsv1 alert unknown ca"),
      exit: "auth",
      says: "refuses the certificate of ops",
    },
    {
      error: new AggregateError([failure("X", "one"), failure("Y", "two")]),
      exit: "error",
      says: "one, two",
    },
    { error: failure("ESTRANGE"), exit: "error", says: "ESTRANGE" },
  ])("$error.code $error.message becomes words", ({ error, exit, says }) => {
    const message = connectionError(error, line);
    expect(message.exit).toBe(exit);
    expect(message.message).toContain(`https://broker.example:8443: `);
    expect(message.message).toContain(says);
  });
});
