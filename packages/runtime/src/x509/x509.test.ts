import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeCrl, REVOCATION_REASONS, type RevocationReason, readCrl } from "./crl.ts";
import {
  authorityName,
  makeAuthorityCertificate,
  makeIntermediateCertificate,
  makeLeafCertificate,
} from "./make-certificate.ts";
import { readPem, toPem } from "./pem.ts";
import { elementAt, readElements, readTime } from "./read-der.ts";
import { generateKeys, type Issuer, keyIdOf, subjectOf } from "./sign.ts";
import { integer, objectId, sequence, smallInteger, time } from "./write-der.ts";

const NOT_BEFORE = Date.UTC(2026, 0, 15);
const NOT_AFTER = Date.UTC(2126, 0, 15);

async function newIssuer(): Promise<Issuer> {
  return { name: authorityName("Some CA"), randomBytes, ...(await generateKeys()) };
}

describe("DER", () => {
  test.each([
    ["the largest number of one byte", smallInteger(127), "02017f"],
    ["a number whose first bit would read as a minus", smallInteger(128), "02020080"],
    ["a number with zeros in front", integer(Uint8Array.of(0, 0, 5)), "020105"],
    ["an object id with a part of three bytes", objectId("1.2.840.113549"), "06062a864886f70d"],
    ["an empty sequence", sequence(), "3000"],
    ["a time in 2049", time(Date.UTC(2049, 11, 31, 23, 59, 59)), `170d${ascii("491231235959Z")}`],
    ["a time in 2050", time(Date.UTC(2050, 0, 1)), `180f${ascii("20500101000000Z")}`],
  ])("writes %s", (_, der, hex) => {
    expect(der.toString("hex")).toBe(hex);
  });

  test("reads back the times it writes, to the second", () => {
    const instants = fc.integer({ min: Date.UTC(1950, 0, 1), max: Date.UTC(9999, 0, 1) });
    fc.assert(
      fc.property(instants, (instant) => {
        expect(readTime(elementAt(time(instant), 0))).toBe(Math.floor(instant / 1000) * 1000);
      }),
    );
  });

  test("refuses what is cut short or makes no sense, and never hangs", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          const elements = readElements(Buffer.from(bytes));
          expect(Buffer.concat(elements.map(({ whole }) => whole))).toEqual(Buffer.from(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }),
    );
  });
});

test("PEM keeps its blocks and their order", () => {
  const blocks = fc.array(
    fc.record({ label: fc.constantFrom("CERTIFICATE", "X509 CRL"), der: fc.uint8Array() }),
  );
  fc.assert(
    fc.property(blocks, (given) => {
      const text = given.map(({ label, der }) => `a comment\n${toPem(label, der)}`).join("");
      expect(readPem(text)).toEqual(given.map(({ label, der }) => ({ label, der: Buffer.from(der) })));
    }),
  );
});

describe("a certificate", () => {
  test("of an authority is what Node takes for one", async () => {
    const issuer = await newIssuer();
    const certificate = makeAuthorityCertificate(issuer, { notBefore: NOT_BEFORE, notAfter: NOT_AFTER });
    expect(certificate).toMatchObject({ ca: true, subject: "CN=Some CA", issuer: "CN=Some CA" });
    expect(certificate.checkIssued(certificate) && certificate.verify(issuer.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(issuer.privateKey)).toBe(true);
    expect(subjectOf(certificate)).toEqual(Buffer.from(issuer.name));
    expect(certificate.validFromDate.getTime()).toBe(NOT_BEFORE);
    expect(certificate.validToDate.getTime()).toBe(NOT_AFTER);
  });

  test("of an intermediate leads to the root, and signs no further authority and no server", async () => {
    const issuer = await newIssuer();
    const validity = { notBefore: NOT_BEFORE, notAfter: NOT_AFTER };
    const root = makeAuthorityCertificate(issuer, validity);
    const { publicKey } = await generateKeys();
    const below = makeIntermediateCertificate({ commonName: "Below", publicKey, ...validity }, issuer);
    expect(below).toMatchObject({ ca: true, subject: "CN=Below", issuer: "CN=Some CA" });
    expect(below.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2"]);
    expect(below.checkIssued(root) && below.verify(root.publicKey)).toBe(true);
    expect(below.raw.toString("hex")).toContain("0603551d130101ff040830060101ff020100"); // CA:true, pathlen 0
  });

  test("of a leaf names its owner, its use, its hosts and its authority", async () => {
    const issuer = await newIssuer();
    const { publicKey } = await generateKeys();
    const authority = makeAuthorityCertificate(issuer, { notBefore: NOT_BEFORE, notAfter: NOT_AFTER });
    const leaf = makeLeafCertificate(
      {
        commonName: "rome",
        units: ["broker-admin"],
        usages: ["clientAuth"],
        hosts: ["rome.example.org", "10.0.0.7", "fd00::1", "::", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8"],
        publicKey,
        notBefore: NOT_BEFORE,
        notAfter: NOT_AFTER,
      },
      issuer,
    );
    expect(leaf).toMatchObject({
      ca: false,
      subject: "OU=broker-admin\nCN=rome",
      keyUsage: ["1.3.6.1.5.5.7.3.2"],
    });
    expect(leaf.subjectAltName?.split(", ")).toEqual([
      "DNS:rome.example.org",
      "IP Address:10.0.0.7",
      "IP Address:FD00:0:0:0:0:0:0:1",
      "IP Address:0:0:0:0:0:0:0:0",
      "IP Address:0:0:0:0:0:FFFF:102:304",
      "IP Address:1:2:3:4:5:6:7:8",
    ]);
    expect(leaf.checkIssued(authority) && leaf.verify(authority.publicKey)).toBe(true);
    expect(leaf.raw.includes(keyIdOf(issuer.publicKey))).toBe(true);
  });

  test("says what its key is for, and whether it may sign others, in critical extensions", async () => {
    const issuer = await newIssuer();
    const validity = { notBefore: NOT_BEFORE, notAfter: NOT_AFTER };
    const authority = makeAuthorityCertificate(issuer, validity).raw.toString("hex");
    const { publicKey } = await generateKeys();
    const request = { commonName: "rome", usages: ["clientAuth"], publicKey, ...validity } as const;
    const leaf = makeLeafCertificate(request, issuer).raw.toString("hex");
    // id, critical, then the value: as RFC 5280 spells them.
    expect(authority).toContain("0603551d130101ff040830060101ff020101"); // CA:true, pathlen 1
    expect(authority).toContain("0603551d0f0101ff040403020106"); // keyCertSign, cRLSign
    expect(leaf).toContain("0603551d130101ff04023000"); // CA:false
    expect(leaf).toContain("0603551d0f0101ff040403020780"); // digitalSignature
  });
});

describe("a revocation list", () => {
  const reasons = fc.constantFrom(...Object.keys(REVOCATION_REASONS)) as fc.Arbitrary<RevocationReason>;
  const serial = fc
    .uint8Array({ minLength: 1, maxLength: 20 })
    .filter(([first = 0]) => first !== 0)
    .map((bytes) => Buffer.from(bytes).toString("hex").toUpperCase());

  test("reads back what was revoked, and when", async () => {
    const issuer = await newIssuer();
    const entries = fc.uniqueArray(fc.record({ serial, at: fc.constant(NOT_BEFORE), reason: reasons }), {
      selector: ({ serial: number }) => number,
      maxLength: 20,
    });
    fc.assert(
      fc.property(entries, (revoked) => {
        const pem = makeCrl({ number: 300, thisUpdate: NOT_BEFORE, nextUpdate: NOT_AFTER, revoked }, issuer);
        expect(readCrl(pem, issuer.publicKey)).toEqual({
          thisUpdate: NOT_BEFORE,
          nextUpdate: NOT_AFTER,
          revoked: new Map(revoked.map(({ serial: number, at }) => [number, at])),
        });
      }),
      { numRuns: 30 },
    );
  });

  test("may be long: an authority that revokes often must not be stopped by its own list", async () => {
    const issuer = await newIssuer();
    const revoked = Array.from({ length: 150_000 }, (_, index) => ({
      serial: (0x100000 + index).toString(16).toUpperCase(),
      at: NOT_BEFORE,
      reason: "superseded" as const,
    }));
    const pem = makeCrl({ number: 1, thisUpdate: NOT_BEFORE, nextUpdate: NOT_AFTER, revoked }, issuer);
    expect(readCrl(pem, issuer.publicKey)?.revoked.size).toBe(revoked.length);
  });
});

function ascii(text: string): string {
  return Buffer.from(text, "latin1").toString("hex");
}
