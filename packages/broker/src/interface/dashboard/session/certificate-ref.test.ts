import { X509Certificate } from "node:crypto";
import { readCertificateSet } from "@resource-broker/runtime";
import { commonName, makeKeys, testCertificates } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { certificateRefOf, isStillValid } from "./sessions.ts";

const NOW = Date.UTC(2026, 0, 5, 12);
const all = await testCertificates();
const { ca, broker } = all;
const sub = all.authority({ subject: [commonName("Sub CA")] }, ca);
const twin = all.authority({ subject: ca.subject });
const renewed = all.authority({ subject: ca.subject, keys: ca.keys });
const SUBJECT = [{ type: "OU", value: "broker-admin" }, commonName("ops")] as const;
const SERIAL = Uint8Array.of(0x42, 1, 2, 3);
const ops = all.leaf({ subject: SUBJECT, serial: SERIAL });
const below = all.leaf({ subject: SUBJECT }, sub);

const setOf = (authorities: readonly { readonly cert: string }[], crl?: string) =>
  readCertificateSet({ ...broker, ca: authorities.map(({ cert }) => cert).join(""), crl });

const rows = [
  { name: "another authority was added", who: ops, later: setOf([twin, ca]), isGood: true },
  { name: "its authority was renewed with the same key", who: ops, later: setOf([renewed]), isGood: true },
  { name: "its authority has another key now", who: ops, later: setOf([twin]), isGood: false },
  { name: "it was revoked", who: ops, later: setOf([ca], all.crl([ops])), isGood: false },
  {
    name: "it was revoked by the renewed authority",
    who: ops,
    later: setOf([renewed], all.crl([ops])),
    isGood: false,
  },
  {
    name: "the authority above its own was taken back",
    who: below,
    at: setOf([ca, sub]),
    later: setOf([ca, sub], all.crl([{ serial: new X509Certificate(sub.cert).serialNumber }])),
    isGood: false,
  },
  { name: "its authority is known to the admin alone", who: below, later: setOf([ca]), isGood: true },
  {
    name: "its authority is known to the admin alone, and there are revocations",
    who: below,
    later: setOf([ca], all.crl([])),
    isGood: false,
  },
  {
    name: "its authority is known to the admin alone, and others are trusted now",
    who: below,
    later: setOf([ca, twin]),
    isGood: false,
  },
];

test.each(rows)("an admin's certificate when $name: $isGood", ({ who, at = setOf([ca]), later, isGood }) => {
  const certificateRef = certificateRefOf(new X509Certificate(who.cert), at);
  expect(isStillValid(certificateRef, later, NOW)).toBe(isGood);
});

test("one that has run out is good no more", () => {
  const notAfter = new Date(NOW);
  const certificateRef = certificateRefOf(
    new X509Certificate(all.leaf({ subject: SUBJECT, notAfter }).cert),
    setOf([ca]),
  );
  expect(isStillValid(certificateRef, setOf([ca]), NOW)).toBe(true);
  expect(isStillValid(certificateRef, setOf([ca]), NOW + 1)).toBe(false);
});

test("two authorities may give the same number: only its own takes it back", () => {
  const elsewhere = all.authority({ subject: [commonName("Other CA")], keys: makeKeys() });
  const namesake = all.leaf({ subject: SUBJECT, serial: SERIAL }, elsewhere);
  const both = setOf([ca, elsewhere]);
  const revoked = setOf([ca, elsewhere], all.crl([ops]));
  const isGood = (cert: string) =>
    isStillValid(certificateRefOf(new X509Certificate(cert), both), revoked, NOW);
  expect([isGood(ops.cert), isGood(namesake.cert)]).toEqual([false, true]);
});
