import { X509Certificate } from "node:crypto";
import {
  basicConstraints,
  type CertificateOptions,
  extension,
  makeKeys,
  VALID_FROM,
  VALID_UNTIL,
} from "./make-certificate.ts";
import { type Attribute, commonName, type Subject } from "./subject.ts";
import { ADMIN_UNIT, type Credentials, privatePem, type TestCertificates } from "./test-certificates.ts";

/** A client certificate that the broker must refuse. */
export interface WrongCertificate {
  /** Reads after "refuses": "a certificate with two Common Names". */
  readonly name: string;
  /**
   * Who sees it: "tls" = the chain does not verify (`socket.authorized` is false);
   * "identity" = the chain verifies, and only the broker's own reading of the certificate can refuse it.
   */
  readonly refusedBy: "tls" | "identity";
  readonly make: (certificates: TestCertificates) => Credentials;
}

const ROME = commonName("rome");
const PARIS = commonName("paris");
const PAST = new Date("2021-01-01T00:00:00Z");
const FUTURE = new Date("2048-01-01T00:00:00Z");
const UNKNOWN_EXTENSION = "1.3.6.1.4.1.99999.1";

function identity(name: string, options: CertificateOptions): WrongCertificate {
  return { name, refusedBy: "identity", make: ({ leaf }) => leaf(options) };
}

function tls(name: string, options: CertificateOptions): WrongCertificate {
  return { name, refusedBy: "tls", make: ({ leaf }) => leaf({ subject: [ROME], ...options }) };
}

function made(name: string, make: WrongCertificate["make"]): WrongCertificate {
  return { name, refusedBy: "tls", make };
}

function named(name: string, ...subject: Subject): WrongCertificate {
  return identity(`a certificate with ${name}`, { subject });
}

function misnamed(problem: string, id: string, as: Attribute["as"] = "utf8"): WrongCertificate {
  return named(`a Common Name ${problem}`, commonName(id, as));
}

const NAMES: readonly WrongCertificate[] = [
  named("two Common Names", ROME, PARIS),
  named("the same Common Name twice", ROME, ROME),
  named("two Common Names in one multi-valued part", [ROME, PARIS]),
  named("two Common Names in different string types", ROME, commonName("paris", "bmp")),
  named("no Common Name but an organization", { type: "O", value: "rome" }),
  named("no Common Name but a unit", { type: "OU", value: "rome" }),
  named("no Common Name but a user id", { type: "UID", value: "rome" }),
  named("only the admin unit and no Common Name", ADMIN_UNIT),
  identity("a certificate with an empty subject", { subject: [] }),
  identity("a certificate that names its cluster only in subjectAltName", {
    subject: [],
    subjectAltNames: ["DNS:rome"],
  }),
  misnamed("that is empty", ""),
  misnamed("in upper case", "ROME"),
  misnamed("with one upper-case letter", "Rome"),
  misnamed("that starts with a dot", ".rome"),
  misnamed("that ends with a dot", "rome."),
  misnamed("that starts with a dash", "-rome"),
  misnamed("that ends with a dash", "rome-"),
  misnamed("that is one dot", "."),
  misnamed("with two dots in a row", "rome..eu"),
  misnamed("with a dash after a dot", "rome.-eu"),
  misnamed("with a dash before a dot", "rome-.eu"),
  misnamed("of 64 characters", "r".repeat(64)),
  misnamed("of 10,000 characters", "r".repeat(10_000)),
  misnamed("with a NUL inside", "rome\0.paris"),
  misnamed("that ends with a NUL", "rome\0"),
  misnamed("with a NUL in a PrintableString", "rome\0", "printable"),
  misnamed("with a NUL in a BMPString", "rome\0", "bmp"),
  misnamed("with a line break", "rome\nOU=broker-admin"),
  misnamed("that ends with a line break", "rome\n"),
  misnamed("with a carriage return", "rome\r"),
  misnamed("with a control character", "ro\u0007me"),
  misnamed("with a delete character", "rome\u007f"),
  misnamed("that spells another attribute", "rome,OU=broker-admin"),
  misnamed("that spells a multi-valued part", "rome+OU=broker-admin"),
  misnamed("that spells a slash-separated subject", "rome/OU=broker-admin"),
  misnamed("with a backslash", "rome\\"),
  misnamed("with a quote", 'rome"'),
  misnamed("with a space before it", " rome"),
  misnamed("with a space after it", "rome "),
  misnamed("that is a space", " "),
  misnamed("with an underscore", "rome_1"),
  misnamed("that is a path", "../paris"),
  misnamed("that is a wildcard", "*"),
  misnamed("that is a wildcard domain", "*.rome"),
  misnamed("that lists two clusters", "rome,paris"),
  misnamed("that is an e-mail address", "rome@example.org"),
  misnamed("with an accent", "r\u00f6me"),
  misnamed("with a letter of another alphabet that looks the same", "r\u043eme"),
  misnamed("in full-width letters", "\uff52\uff4f\uff4d\uff45"),
  misnamed("with an invisible letter", "ro\u200bme"),
  misnamed("with text that runs from right to left", "\u202eemor"),
  misnamed("with a non-breaking space", "rome\u00a0"),
  misnamed("with an emoji", "rome\u{1f600}"),
  misnamed("with Latin-1 bytes in a TeletexString", "r\u00f6me", "teletex"),
  misnamed("that is the name of a built-in property", "__proto__"),
  misnamed("of the broker itself", "broker"),
  misnamed("that stands for nobody in particular", "nobody"),
];

const USES: readonly WrongCertificate[] = [
  identity("a certificate without extended key usage", { subject: [ROME], extendedKeyUsage: "absent" }),
  identity("a certificate without any usage", {
    subject: [ROME],
    extendedKeyUsage: "absent",
    keyUsage: "absent",
    basicConstraints: "absent",
  }),
  identity("a version 1 certificate, which has no extensions", { subject: [ROME], version: 1 }),
  identity("a CA certificate used as a leaf", {
    subject: [ROME],
    basicConstraints: { ca: true },
    keyUsage: ["digitalSignature", "keyCertSign"],
  }),
  tls("a certificate for servers only", { extendedKeyUsage: ["serverAuth"] }),
  tls("a certificate for e-mail only", { extendedKeyUsage: ["emailProtection"] }),
  tls("a certificate for code signing only", { extendedKeyUsage: ["codeSigning"] }),
  tls("a certificate for any extended key usage", { extendedKeyUsage: ["any"] }),
  tls("a certificate whose key may only encipher keys", { keyUsage: ["keyEncipherment"] }),
  tls("a certificate whose key may only sign certificates", { keyUsage: ["keyCertSign"] }),
  tls("a certificate whose key may only sign revocation lists", { keyUsage: ["cRLSign"] }),
  made("the certificate authority's own certificate", ({ ca }) => ownCredentials(ca)),
  made("the broker's own server certificate", ({ broker }) => broker),
];

const TIMES: readonly WrongCertificate[] = [
  tls("an expired certificate", { notBefore: VALID_FROM, notAfter: PAST }),
  tls("a certificate that is not valid yet", { notBefore: FUTURE, notAfter: VALID_UNTIL }),
  tls("a certificate that ends before it starts", { notBefore: FUTURE, notAfter: PAST }),
];

const CHAINS: readonly WrongCertificate[] = [
  made("a certificate that signed itself", ({ selfSigned }) => selfSigned({ subject: [ROME] })),
  made("a certificate of an unknown authority", ({ authority, leaf }) =>
    leaf({ subject: [ROME] }, authority({ subject: [commonName("Some other CA")] })),
  ),
  made("a certificate of another authority with the same name", ({ authority, leaf }) =>
    leaf({ subject: [ROME] }, authority()),
  ),
  made("a certificate of another authority that sends its root along", ({ authority, leaf }) => {
    const foreign = authority({ subject: [commonName("Some other CA")] });
    return withChain(leaf({ subject: [ROME] }, foreign), foreign.cert);
  }),
  made("a certificate signed by another cluster's certificate", ({ authority, leaf, ca }) => {
    const paris = authority(
      {
        subject: [PARIS],
        basicConstraints: { ca: false },
        keyUsage: ["digitalSignature"],
        extendedKeyUsage: ["clientAuth"],
      },
      ca,
    );
    return withChain(leaf({ subject: [ROME] }, paris), paris.cert);
  }),
  made("a certificate of an intermediate authority that is not sent along", ({ authority, leaf, ca }) =>
    leaf({ subject: [ROME] }, authority({ subject: [commonName("Intermediate")] }, ca)),
  ),
  made("a certificate of an expired intermediate authority", ({ authority, leaf, ca }) => {
    const expired = authority({ subject: [commonName("Intermediate")], notAfter: PAST }, ca);
    return withChain(leaf({ subject: [ROME] }, expired), expired.cert);
  }),
  made("a certificate below an authority that may have none below it", ({ authority, leaf, ca }) => {
    const upper = authority(
      { subject: [commonName("Upper")], basicConstraints: { ca: true, pathLength: 0 } },
      ca,
    );
    const lower = authority({ subject: [commonName("Lower")] }, upper);
    return withChain(leaf({ subject: [ROME] }, lower), lower.cert, upper.cert);
  }),
  tls("a certificate with one flipped bit in its signature", { brokenSignature: true }),
  tls("a certificate signed with SHA-1", { digest: "sha1" }),
  made("a certificate with a weak RSA key", ({ leaf }) =>
    leaf({ subject: [ROME], keys: makeKeys("rsa-1024") }),
  ),
  tls("a certificate with an unknown critical extension", {
    extraExtensions: [extension(UNKNOWN_EXTENSION, Uint8Array.of(5, 0), true)],
  }),
  tls("a certificate with the same extension twice", { extraExtensions: [basicConstraints(false)] }),
  tls("a certificate whose basic constraints cannot be read", {
    basicConstraints: "absent",
    extraExtensions: [extension("2.5.29.19", Uint8Array.of(4, 3, 1, 2, 3), true)],
  }),
];

/** Options for a client that sends whatever it is given: Node's own defaults refuse to load some wrong certificates. */
export const PERMISSIVE_CLIENT = { ciphers: "DEFAULT@SECLEVEL=0" } as const;

/** One row for each way a client certificate can be wrong. Revoked ones need a list: see `TestCertificates.crl`. */
export const WRONG_CERTIFICATES: readonly WrongCertificate[] = [...NAMES, ...USES, ...TIMES, ...CHAINS];

function withChain(credentials: Credentials, ...above: readonly string[]): Credentials {
  return { ...credentials, cert: [credentials.cert, ...above].join("") };
}

function ownCredentials(ca: TestCertificates["ca"]): Credentials {
  const { serialNumber: serial } = new X509Certificate(ca.cert);
  return { cert: ca.cert, key: privatePem(ca.keys), ca: ca.cert, serial };
}
