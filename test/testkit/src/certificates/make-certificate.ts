import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { AsnConvert, OctetString } from "@peculiar/asn1-schema";
import {
  AlgorithmIdentifier,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  CertificateList,
  CRLNumber,
  CRLReason,
  CRLReasons,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_cRLNumber,
  id_ce_cRLReasons,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  RevokedCertificate,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  TBSCertList,
  Time,
  Validity,
  Version,
} from "@peculiar/asn1-x509";
import { nameOf, type Subject } from "./subject.ts";

/** Valid now and for many years, so no test reads a clock; wrong times are given as options. */
export const VALID_FROM = new Date("2020-01-01T00:00:00Z");
export const VALID_UNTIL = new Date("2049-12-31T00:00:00Z");

const EXTENDED_KEY_USAGES = {
  any: "2.5.29.37.0",
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
  codeSigning: "1.3.6.1.5.5.7.3.3",
  emailProtection: "1.3.6.1.5.5.7.3.4",
} as const;

export type KeyKind = "p256" | "p384" | "rsa-2048" | "rsa-1024" | "ed25519";

export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** Who signs: a name and a key. Nothing checks that the two belong together. */
export interface Authority {
  readonly subject: Subject;
  readonly keys: KeyPair;
  readonly cert: string;
}

/** Every part of a certificate can be chosen, left out or made wrong. "absent" leaves the extension out. */
export interface CertificateOptions {
  readonly subject?: Subject;
  readonly keys?: KeyPair;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  readonly serial?: Uint8Array;
  readonly basicConstraints?: { readonly ca: boolean; readonly pathLength?: number } | "absent";
  readonly keyUsage?:
    | readonly ("digitalSignature" | "keyEncipherment" | "keyCertSign" | "cRLSign")[]
    | "absent";
  readonly extendedKeyUsage?: readonly (keyof typeof EXTENDED_KEY_USAGES)[] | "absent";
  /** Written as `DNS:localhost`, `IP:127.0.0.1` or `URI:spiffe://…`. */
  readonly subjectAltNames?: readonly string[];
  /** Without them only names tell authorities apart. */
  readonly keyIds?: "present" | "absent";
  readonly extraExtensions?: readonly Extension[];
  /** 1 has no extensions at all. */
  readonly version?: 1 | 3;
  readonly digest?: "sha256" | "sha1";
  /** True: one bit of the signature is flipped. */
  readonly brokenSignature?: boolean;
}

export function makeKeys(kind: KeyKind = "p256"): KeyPair {
  switch (kind) {
    case "p256":
    case "p384":
      return generateKeyPairSync("ec", { namedCurve: kind === "p256" ? "P-256" : "P-384" });
    case "rsa-1024":
    case "rsa-2048":
      return generateKeyPairSync("rsa", { modulusLength: Number(kind.slice(4)) });
    case "ed25519":
      return generateKeyPairSync("ed25519");
  }
}

/** A right client certificate, but for its subject. */
const DEFAULTS = {
  subject: [],
  notBefore: VALID_FROM,
  notAfter: VALID_UNTIL,
  basicConstraints: { ca: false },
  keyUsage: ["digitalSignature"],
  extendedKeyUsage: ["clientAuth"],
  version: 3,
  digest: "sha256",
  brokenSignature: false,
} as const satisfies CertificateOptions;

type ChosenOptions = CertificateOptions & Required<Pick<CertificateOptions, keyof typeof DEFAULTS>>;

/** A certificate signed by `issuer`, or by its own key when there is none; `serial` as Node prints it, in upper-case hex. */
export function makeCertificate(
  chosen: CertificateOptions,
  issuer?: Authority,
): { readonly cert: string; readonly keys: KeyPair; readonly serial: string } {
  const options: ChosenOptions = { ...DEFAULTS, ...chosen };
  const { subject, keys = makeKeys(), serial = randomSerial(), version } = options;
  const signer = issuer ?? { subject, keys };
  const { notBefore, notAfter, digest, brokenSignature } = options;
  const signatureAlgorithm = algorithmOf(signer.keys, digest);
  const tbsCertificate = new TBSCertificate({
    version: version === 1 ? Version.v1 : Version.v3,
    serialNumber: integerOf(serial),
    signature: signatureAlgorithm,
    issuer: nameOf(signer.subject),
    validity: new Validity({ notBefore, notAfter }),
    subject: nameOf(subject),
    subjectPublicKeyInfo: AsnConvert.parse(spkiOf(keys), SubjectPublicKeyInfo),
    ...(version === 1 ? {} : { extensions: new Extensions(extensionsOf(options, keys, signer.keys)) }),
  });
  const signatureValue = signatureOf(tbsCertificate, signer.keys, { digest, brokenSignature });
  const cert = new Certificate({ tbsCertificate, signatureAlgorithm, signatureValue });
  return { cert: pemOf("CERTIFICATE", cert), keys, serial: serialText(serial) };
}

export interface CrlOptions {
  readonly thisUpdate?: Date;
  /** In the past: TLS then refuses every certificate of this authority. */
  readonly nextUpdate?: Date;
  readonly brokenSignature?: boolean;
}

/** A revocation list as PEM; `serials` are hex, as `makeCertificate` returns them. */
export function makeCrl(issuer: Authority, serials: readonly string[], options: CrlOptions = {}): string {
  const { thisUpdate = VALID_FROM, nextUpdate = VALID_UNTIL, brokenSignature = false } = options;
  const signatureAlgorithm = algorithmOf(issuer.keys, "sha256");
  const reason = extension(id_ce_cRLReasons, new CRLReason(CRLReasons.keyCompromise));
  const tbsCertList = new TBSCertList({
    version: Version.v2,
    signature: signatureAlgorithm,
    issuer: nameOf(issuer.subject),
    thisUpdate: new Time(thisUpdate),
    nextUpdate: new Time(nextUpdate),
    crlExtensions: new Extensions([
      authorityKeyId(issuer.keys),
      extension(id_ce_cRLNumber, new CRLNumber(1)),
    ]),
  });
  if (serials.length > 0)
    tbsCertList.revokedCertificates = serials.map(
      (serial) =>
        new RevokedCertificate({
          userCertificate: integerOf(Buffer.from(serial, "hex")),
          revocationDate: new Time(thisUpdate),
          crlEntryExtensions: [reason],
        }),
    );
  const signature = signatureOf(tbsCertList, issuer.keys, { digest: "sha256", brokenSignature });
  return pemOf("X509 CRL", new CertificateList({ tbsCertList, signatureAlgorithm, signature }));
}

/** An extension whose value is an ASN.1 object, or bytes that are taken as they are. */
export function extension(extnID: string, value: object | Uint8Array, critical = false): Extension {
  const bytes = value instanceof Uint8Array ? Uint8Array.from(value).buffer : AsnConvert.serialize(value);
  return new Extension({ extnID, critical, extnValue: new OctetString(bytes) });
}

export function basicConstraints(ca: boolean, pathLenConstraint?: number): Extension {
  const length = pathLenConstraint === undefined ? {} : { pathLenConstraint };
  return extension(id_ce_basicConstraints, new BasicConstraints({ cA: ca, ...length }), true);
}

function authorityKeyId(keys: KeyPair): Extension {
  const keyIdentifier = new SubjectKeyIdentifier(keyIdOf(keys));
  return extension(id_ce_authorityKeyIdentifier, new AuthorityKeyIdentifier({ keyIdentifier }));
}

function extensionsOf(options: ChosenOptions, keys: KeyPair, signer: KeyPair): Extension[] {
  const { keyUsage, extendedKeyUsage, subjectAltNames, extraExtensions = [] } = options;
  const found: Extension[] = [];
  if (options.basicConstraints !== "absent")
    found.push(basicConstraints(options.basicConstraints.ca, options.basicConstraints.pathLength));
  if (keyUsage !== "absent") {
    const flags = keyUsage.reduce((all, usage) => all | KeyUsageFlags[usage], 0);
    found.push(extension(id_ce_keyUsage, new KeyUsage(flags), true));
  }
  if (extendedKeyUsage !== "absent") {
    const usages = extendedKeyUsage.map((usage) => EXTENDED_KEY_USAGES[usage]);
    found.push(extension(id_ce_extKeyUsage, new ExtendedKeyUsage(usages)));
  }
  if (options.keyIds !== "absent") {
    found.push(extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(keyIdOf(keys))));
    found.push(authorityKeyId(signer));
  }
  if (subjectAltNames !== undefined)
    found.push(extension(id_ce_subjectAltName, new SubjectAlternativeName(subjectAltNames.map(generalName))));
  return [...found, ...extraExtensions];
}

function generalName(text: string): GeneralName {
  const colon = text.indexOf(":");
  const value = text.slice(colon + 1);
  switch (text.slice(0, colon)) {
    case "DNS":
      return new GeneralName({ dNSName: value });
    case "URI":
      return new GeneralName({ uniformResourceIdentifier: value });
    case "IP":
      return new GeneralName({ iPAddress: value });
    default:
      throw new TypeError(`${text}: write DNS:…, IP:… or URI:…`);
  }
}

interface Signing {
  readonly digest: "sha256" | "sha1";
  readonly brokenSignature: boolean;
}

function signatureOf(
  body: object,
  { privateKey }: KeyPair,
  { digest, brokenSignature }: Signing,
): ArrayBuffer {
  const hash = privateKey.asymmetricKeyType === "ed25519" ? null : digest;
  const signature = Uint8Array.from(sign(hash, Buffer.from(AsnConvert.serialize(body)), privateKey));
  const last = signature.length - 1;
  if (brokenSignature) signature[last] = (signature[last] ?? 0) ^ 1;
  return signature.buffer;
}

function algorithmOf({ privateKey }: KeyPair, digest: Signing["digest"]): AlgorithmIdentifier {
  switch (privateKey.asymmetricKeyType) {
    case "ec":
      return new AlgorithmIdentifier({
        algorithm: digest === "sha1" ? "1.2.840.10045.4.1" : "1.2.840.10045.4.3.2",
      });
    case "rsa":
      return new AlgorithmIdentifier({
        algorithm: digest === "sha1" ? "1.2.840.113549.1.1.5" : "1.2.840.113549.1.1.11",
        parameters: null,
      });
    default:
      return new AlgorithmIdentifier({ algorithm: "1.3.101.112" });
  }
}

function spkiOf({ publicKey }: KeyPair): Uint8Array {
  return publicKey.export({ type: "spki", format: "der" });
}

function keyIdOf(keys: KeyPair): Uint8Array {
  return createHash("sha1").update(spkiOf(keys)).digest();
}

/** The content of an INTEGER; a zero byte keeps the first bit from reading as a minus. */
function integerOf(bytes: Uint8Array): ArrayBuffer {
  const digits = bytes.subarray(
    Math.max(
      0,
      bytes.findIndex((byte) => byte !== 0),
    ),
  );
  return Uint8Array.from((digits[0] ?? 0) >= 0x80 ? [0, ...digits] : digits).buffer;
}

function serialText(serial: Uint8Array): string {
  return Buffer.from(serial)
    .toString("hex")
    .toUpperCase()
    .replace(/^(?:00)+(?=..)/u, "");
}

/** The first byte is neither zero nor reads as a minus, so that the hex text is the same everywhere. */
function randomSerial(): Uint8Array {
  return Uint8Array.of(0x40, ...randomBytes(15));
}

function pemOf(label: string, object: object): string {
  const text = Buffer.from(AsnConvert.serialize(object)).toString("base64");
  return [`-----BEGIN ${label}-----`, ...(text.match(/.{1,64}/gu) ?? []), `-----END ${label}-----`, ""].join(
    "\n",
  );
}
