import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { makeCsr, readCsr, requireSubject, SUBJECT_ATTRIBUTE } from "./csr.ts";

const { commonName, organization } = SUBJECT_ATTRIBUTE;
const SUBJECT = [
  [organization, "liqo.io"],
  [commonName, "rome-liqo"],
] as const;
const folder = mkdtempSync(join(tmpdir(), "csr-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What OpenSSL makes of these arguments. */
function openssl(...args: readonly string[]): string {
  return execFileSync("openssl", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

function opensslCsr(subject: string, ...more: readonly string[]): string {
  const key = join(folder, "key.pem");
  return openssl("req", "-new", "-newkey", "ed25519", "-nodes", "-keyout", key, "-subj", subject, ...more);
}

describe("requests for certificates", () => {
  const kinds = {
    ed25519: () => generateKeyPairSync("ed25519"),
    p256: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
    rsa: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
  };
  it.each(Object.entries(kinds))("are accepted by OpenSSL and read back: %s", (_, generate) => {
    const keys = generate();
    const pem = makeCsr(SUBJECT, keys);
    const file = join(folder, "made.csr");
    writeFileSync(file, pem);
    expect(openssl("req", "-in", file, "-noout", "-verify", "-subject")).toContain("CN = rome-liqo");
    const csr = readCsr(pem);
    expect(csr).toMatchObject({ subject: SUBJECT, hasAttributes: false });
    expect(csr.publicKey.equals(keys.publicKey)).toBe(true);
    expect(() => requireSubject(csr, [SUBJECT[1], SUBJECT[0]])).not.toThrow();
  });

  it("of OpenSSL are read", () => {
    const csr = readCsr(opensslCsr("/O=liqo.io/CN=rome-liqo"));
    expect(() => requireSubject(csr, SUBJECT)).not.toThrow();
  });

  it.each([
    ["a second organisation", "/O=liqo.io/O=system:masters/CN=rome-liqo", []],
    ["another organisation", "/O=system:masters/CN=rome-liqo", []],
    ["another name", "/O=liqo.io/CN=paris-liqo", []],
    ["a second name", "/O=liqo.io/CN=rome-liqo/CN=admin", []],
    ["one more attribute", "/O=liqo.io/CN=rome-liqo/OU=broker-admin", []],
    ["extensions", "/O=liqo.io/CN=rome-liqo", ["-addext", "subjectAltName=DNS:kubernetes.default.svc"]],
  ])("with %s are refused", (_, subject, more) => {
    const csr = readCsr(opensslCsr(subject, ...more));
    expect(() => requireSubject(csr, SUBJECT)).toThrow(RangeError);
  });

  it.each(["/O=liqo.io/CN=rome-liqo+CN=admin", "/O=liqo.io/CN=rome-liqo+O=system:masters"])(
    "with two attributes in one place are refused: %s",
    (subject) => {
      expect(() => readCsr(opensslCsr(subject, "-multivalue-rdn"))).toThrow(
        "several attributes in one place",
      );
    },
  );

  const keys = generateKeyPairSync("ed25519");
  const good = makeCsr(SUBJECT, keys);
  const BEGIN = "-----BEGIN CERTIFICATE REQUEST-----\n";
  const withHeader = (pem: string): string => pem.replace(BEGIN, `${BEGIN}X-Y: z\n\n`);
  const other = withHeader(makeCsr([[organization, "system:masters"], ...SUBJECT], keys));
  // Go reads the first block that it can, with its headers, and ignores everything else.
  it.each([
    ["another one before it", other + good],
    ["another one behind it", good + other],
    ["a header of its own", withHeader(good)],
    ["text before it", `request\n${good}`],
    ["text behind it", `${good}request\n`],
    ["characters that base64 has not", good.replace("\nM", "\n*M")],
  ])("in a text that others read as something else are refused: %s", (_, text) => {
    expect(() => readCsr(text)).toThrow(RangeError);
  });

  it("whose signature or key is wrong are refused", () => {
    const pem = makeCsr(SUBJECT, generateKeyPairSync("ed25519"));
    const der = Buffer.from(pem.split("\n").slice(1, -2).join(""), "base64");
    der[der.length - 1] = (der.at(-1) ?? 0) ^ 1;
    const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;
    expect(() => readCsr(forged)).toThrow("signature");
    const unlike = { ...generateKeyPairSync("ed25519"), publicKey: generateKeyPairSync("ed25519").publicKey };
    expect(() => readCsr(makeCsr(SUBJECT, unlike))).toThrow("signature");
    expect(() => readCsr(makeCsr(SUBJECT, generateKeyPairSync("rsa", { modulusLength: 1024 })))).toThrow(
      "weak",
    );
    expect(() => readCsr(makeCsr(SUBJECT, generateKeyPairSync("ec", { namedCurve: "secp256k1" })))).toThrow(
      "weak",
    );
  });

  it("that are something else are refused", () => {
    const pem = makeCsr(SUBJECT, generateKeyPairSync("ed25519"));
    expect(() => readCsr(pem + pem)).toThrow("not one CERTIFICATE REQUEST");
    expect(() => readCsr(pem.replaceAll("CERTIFICATE REQUEST", "CERTIFICATE"))).toThrow("not one");
    expect(() => readCsr("")).toThrow("not one");
    expect(() => readCsr(pem + " ".repeat(8192))).toThrow("longer");
  });
});
