import { X509Certificate } from "node:crypto";
import { type KeyKind, makeKeys, testCertificates } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { pemBlocks, toPem } from "../x509/pem.ts";
import { readRevocationLists } from "./revocation-list.ts";

const certificates = await testCertificates();
const authority = new X509Certificate(certificates.ca.cert);
const rome = certificates.cluster("rome");
const paris = certificates.cluster("paris");

const listsIn = (...given: Parameters<typeof readRevocationLists>) => readRevocationLists(...given).lists;

describe("a revocation list", () => {
  test("reports when the next one is due, also in the other way to write a time", () => {
    const dueAt = (nextUpdate: Date) =>
      listsIn(certificates.crl([], { nextUpdate }), [authority])[0]?.nextUpdateMs;
    for (const due of ["2026-08-09T10:11:12Z", "2050-01-02T03:04:05Z", "2099-12-31T23:59:59Z"]) {
      expect(dueAt(new Date(due))).toBe(Date.parse(due));
    }
  });

  test("serial numbers are written as Node writes them, whatever their length", () => {
    for (const serial of [Uint8Array.of(7), Uint8Array.of(0x80), new Uint8Array(20).fill(0x7f)]) {
      const leaf = certificates.leaf({ subject: [{ type: "CN", value: "rome" }], serial });
      const [list] = listsIn(certificates.crl([leaf]), [authority]);
      expect(list?.serials).toEqual(new Set([new X509Certificate(leaf.cert).serialNumber]));
    }
  });

  test.each(["p384", "rsa-2048", "ed25519"] satisfies KeyKind[])(
    "is read with a key of kind %s",
    async (kind) => {
      const others = await testCertificates();
      const ca = others.authority({ keys: makeKeys(kind) });
      expect(ca.cert).toContain("CERTIFICATE");
      // The factory signs lists of its own authority only; what matters here is that a foreign key never throws.
      const foreign = [new X509Certificate(ca.cert)];
      expect(readRevocationLists(certificates.crl([rome]), foreign)).toEqual({ lists: [], skipped: 1 });
      expect(listsIn(certificates.crl([rome]), [...foreign, authority])).toHaveLength(1);
    },
  );

  test.each([
    [
      "with a flipped bit in its signature",
      certificates.crl([rome], { brokenSignature: true }),
      "not signed by",
    ],
    ["that is no list at all", certificates.ca.cert, "no revocation list"],
    ["that is empty", "", "no revocation list"],
    ["that is cut short", cutShort(certificates.crl([rome])), ""],
  ])("%s is refused", (_, pem, reason) => {
    expect(() => readRevocationLists(pem, [authority])).toThrow(reason);
  });

  test("of another authority is skipped, also where that has the same name and the list another one", async () => {
    const others = await testCertificates();
    const pem = others.crl([rome]) + certificates.crl([paris]);
    const { lists, skipped } = readRevocationLists(pem, [authority]);
    expect(skipped).toBe(1);
    expect(lists.map(({ serials }) => [...serials])).toEqual([[paris.serial]]);
  });

  test("with any one bit flipped is never passed over: whom it revokes stays revoked, or it is refused", async () => {
    const others = await testCertificates();
    const trusted = [new X509Certificate(others.ca.cert), authority];
    const [whole, another] = [certificates.crl([rome]), others.crl([])];
    const [der = Buffer.of()] = pemBlocks(whole, "X509 CRL");
    const damaged = [
      ...flippedEach(der).map((bytes) => toPem("X509 CRL", bytes)),
      ...flippedEach(Buffer.from(whole)).map(String),
    ];
    // Behind another list: a file in which none is found is refused for that alone.
    const unrevoking = damaged.filter((pem) => {
      try {
        const lists = listsIn(another + pem, trusted);
        return !lists.some(({ serials }) => serials.has(rome.serial));
      } catch {
        return false;
      }
    });
    expect(unrevoking).toEqual([]);
  });

  test("that says by its name alone whose it is must be signed by the authority of that name", async () => {
    const others = await testCertificates();
    // An authority whose certificate has no key id cannot be told from another of its name.
    const bare = certificates.authority({ version: 1 });
    expect(() => readRevocationLists(others.crl([rome]), [new X509Certificate(bare.cert)])).toThrow(
      "or of an older authority with that name",
    );
    const named = certificates.authority({ version: 1, subject: [{ type: "CN", value: "Second CA" }] });
    expect(readRevocationLists(others.crl([rome]), [new X509Certificate(named.cert)]).skipped).toBe(1);
  });
});

function cutShort(pem: string): string {
  const lines = pem.split("\n");
  return [...lines.slice(0, 3), ...lines.slice(-2)].join("\n");
}

function flippedEach(bytes: Buffer): Buffer[] {
  return Array.from({ length: 8 * bytes.length }, (_, bit) => {
    const copy = Buffer.from(bytes);
    copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    return copy;
  });
}
