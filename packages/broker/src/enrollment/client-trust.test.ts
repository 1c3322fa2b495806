import { readCertificateSet } from "@resource-broker/runtime";
import { testCertificates } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { X509Certificate } from "node:crypto";
import { clientTrust } from "./client-trust.ts";

const fleet = await testCertificates();
const ca = fleet.ca.cert;
const enrollment = (name: string): X509Certificate =>
  new X509Certificate(
    fleet.authority(
      { subject: [{ type: "CN", value: name }], basicConstraints: { ca: true, pathLength: 0 } },
      fleet.ca,
    ).cert,
  );

test("while a new enrollment authority is not in force, agents are not told to trust the old one", async () => {
  let signing: X509Certificate | undefined = enrollment("Enrollment CA");
  const trust = clientTrust({
    adminCa: undefined,
    enrollmentAuthorities: () => (signing === undefined ? [] : [signing]),
    onChange: () => () => undefined,
  });
  const setOf = (text: string) => readCertificateSet({ ...fleet.broker, crl: undefined, ca: text });
  const inForce = setOf(await trust.addTo(ca));
  expect(inForce.authorities).toHaveLength(2);
  for (const next of [enrollment("Enrollment CA 2"), undefined]) {
    signing = next;
    expect(trust.serverAuthorities(inForce).map(String)).toEqual([ca]);
    expect(trust.serverAuthorities(setOf(await trust.addTo(ca))).map(String)).toEqual([ca]);
    expect(trust.serverAuthorities(inForce).map(String)).toEqual([ca]);
  }
});

test("of a set that was not read with the admins' file nobody makes admins", () => {
  const trust = clientTrust({
    adminCa: "/nowhere/admin-ca.crt",
    enrollmentAuthorities: () => [],
    onChange: () => () => undefined,
  });
  expect(trust.adminAuthorities(readCertificateSet({ ...fleet.broker, crl: undefined, ca }))).toEqual([]);
});

test("an earlier enrollment authority counts only below an authority of ca.crt", async () => {
  const [now, earlier] = [enrollment("Enrollment CA 2"), enrollment("Enrollment CA")];
  const foreign = new X509Certificate(fleet.authority({ subject: [{ type: "CN", value: "Other CA" }] }).cert);
  const trust = clientTrust({
    adminCa: undefined,
    enrollmentAuthorities: () => [now, foreign, earlier],
    onChange: () => () => undefined,
  });
  expect(await trust.addTo(ca)).toBe(`${ca}\n${[now, earlier].join("")}`);
});
