import { X509Certificate } from "node:crypto";
import { readCertificateSet } from "@resource-broker/runtime";
import { testCertificates } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { isRevoked } from "../identity.ts";

const certificates = await testCertificates();
const rome = certificates.cluster("rome");
const chainOf = ({ cert }: { readonly cert: string }) => ({
  leaf: new X509Certificate(cert),
  intermediates: [],
});

test("of two authorities that only their keys tell apart, the one that signed the certificate must have revoked it", () => {
  const second = certificates.authority({ keyIds: "absent" });
  const serial = Buffer.from(rome.serial, "hex");
  const subject = [{ type: "CN" as const, value: "tokyo" }];
  const twin = certificates.leaf({ subject, serial, keyIds: "absent" }, second);
  const set = readCertificateSet({
    ...certificates.broker,
    ca: second.cert + certificates.ca.cert,
    crl: certificates.crl([rome]),
  });
  expect(isRevoked(chainOf(rome), set)).toBe(true);
  expect(isRevoked(chainOf(twin), set)).toBe(false);
});
