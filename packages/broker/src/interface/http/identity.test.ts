import { X509Certificate } from "node:crypto";
import { testCertificates, UNUSUAL_CERTIFICATES, WRONG_CERTIFICATES } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { commonNames, identify, readClientCertificate } from "./identity.ts";

const certificates = await testCertificates();
const RULES = { adminUnit: "broker-admin", reservedNames: ["broker", "nobody"], nowMs: Date.UTC(2026, 6, 1) };

const identified = (pem: string, rules: Partial<typeof RULES> = {}) =>
  identify(readClientCertificate(new X509Certificate(pem)), { ...RULES, ...rules });

describe("who a certificate speaks for", () => {
  test.each(UNUSUAL_CERTIFICATES)("accepts $name", ({ make, clusterId, admin }) => {
    expect(identified(make(certificates).cert)).toEqual({ ok: true, caller: { clusterId, isAdmin: admin } });
  });

  const byIdentity = WRONG_CERTIFICATES.filter(({ refusedBy }) => refusedBy === "identity");
  test.each(byIdentity)("refuses $name", ({ make }) => {
    const identification = identified(make(certificates).cert);
    expect(identification.ok ? identification.caller : identification.problem).toMatch(/^it/);
  });

  test("knows the admin unit under another name", () => {
    const { cert } = certificates.leaf({
      subject: [
        { type: "OU", value: "platform" },
        { type: "CN", value: "ops" },
      ],
    });
    expect(identified(cert)).toMatchObject({ caller: { isAdmin: false } });
    expect(identified(cert, { adminUnit: "platform" })).toMatchObject({ caller: { isAdmin: true } });
  });

  test("a certificate is good until its last moment, and not before its first", () => {
    const notBefore = new Date("2026-01-01T00:00:00Z");
    const notAfter = new Date("2026-12-31T00:00:00Z");
    const { cert } = certificates.leaf({ subject: [{ type: "CN", value: "rome" }], notBefore, notAfter });
    expect(identified(cert, { nowMs: notAfter.getTime() }).ok).toBe(true);
    expect(identified(cert, { nowMs: notAfter.getTime() + 1 })).toEqual({
      ok: false,
      problem: "it has expired; renew it",
    });
    expect(identified(cert, { nowMs: notBefore.getTime() - 1 })).toMatchObject({ ok: false });
  });

  test("the broker's own names are read from its certificate", () => {
    expect(commonNames(new X509Certificate(certificates.broker.cert))).toEqual(["broker"]);
  });
});
