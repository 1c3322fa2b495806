import { FAULTS, Fault, isFaultCode } from "@resource-broker/base";
import { expect, test } from "vitest";
import { readCredentials } from "./credentials.ts";
import { asCommandError, connectionError } from "./failures.ts";

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
  { error: new AggregateError([failure("X", "one"), failure("Y", "two")]), exit: "error", says: "one, two" },
  { error: failure("ESTRANGE"), exit: "error", says: "ESTRANGE" },
])("what the network says becomes words: $says", ({ error, exit, says }) => {
  const url = new URL("https://broker.example:8443");
  const message = connectionError(error, { url, credentials: { folder: "certs/ops", name: "ops" } });
  expect(message.exit).toBe(exit);
  expect(message.message).toContain(`https://broker.example:8443: `);
  expect(message.message).toContain(says);
});

const EXITS = {
  auth: ["no-certificate", "forbidden"],
  unsatisfiable: ["no-capacity", "quota-exceeded"],
  conflict: [
    "wrong-instance",
    "liqo-id-taken",
    "superseded",
    "ledger-conflict",
    "already-ended",
    "key-released",
    "key-mismatch",
  ],
};

test.each(Object.keys(FAULTS).filter(isFaultCode))(
  "the fault %s has an exit status and keeps its words",
  (code) => {
    const who = { folder: "certs/clusters/rome", name: "rome" };
    const error = asCommandError(new Fault(code, "what went wrong"), who);
    const [exit = "error"] = Object.entries(EXITS).find(([, codes]) => codes.includes(code)) ?? [];
    expect(error.exit).toBe(exit);
    expect(error.message.split("\n")[0]).toBe("what went wrong");
  },
);

test("a conflict in the ledger names its remedy itself, and asking again is none", () => {
  const message = "rome is in use; to evict its agent and invite another: brokerctl invite rome --replace";
  const error = asCommandError(new Fault("ledger-conflict", message), { folder: "certs/ops", name: "ops" });
  expect(error.message).toBe(message);
});

test("who is no admin hears of both ways to become one", () => {
  const error = asCommandError(new Fault("forbidden", "no"), { folder: "certs/clusters/rome", name: "rome" });
  expect(error.message).toContain("brokerctl certs issue <your-name> --admin");
  expect(error.message).toContain("with cert-manager: deploy/admin-certificate.sh <your-name>");
});

test("so does who has no certificate", async () => {
  await expect(readCredentials(undefined)).rejects.toMatchObject({
    exit: "auth",
    message: expect.stringMatching(/--admin.*deploy\/admin-certificate\.sh <your-name>/u) as unknown,
  });
});
