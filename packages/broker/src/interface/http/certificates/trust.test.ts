import { X509Certificate } from "node:crypto";
import { readCertificateSet } from "@resource-broker/runtime";
import { testCertificates } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { isRevoked, leadsTo } from "../identity.ts";

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

test("a certificate leads to the authority that has signed it, not to one that only has the same name", () => {
  const admins = certificates.authority({ keyIds: "absent" });
  const forger = certificates.authority({ keyIds: "absent" }, certificates.ca);
  const subject = [{ type: "CN" as const, value: "ops" }];
  const set = readCertificateSet({ ...certificates.broker, ca: certificates.ca.cert, crl: undefined });
  const by = (issuer: typeof admins) => chainOf(certificates.leaf({ subject, keyIds: "absent" }, issuer));
  const wanted = [new X509Certificate(admins.cert)];
  expect(leadsTo(by(admins), wanted, set)).toBe(true);
  expect(leadsTo(by(forger), wanted, set)).toBe(false);
});
