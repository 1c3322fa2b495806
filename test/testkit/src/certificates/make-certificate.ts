import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { bitString, type Der, explicit, integer, NULL, oid, sequence, time, unsignedInteger } from "./der.ts";
import {
  authorityKeyId,
  type BasicConstraints,
  basicConstraints,
  type ExtendedKeyUsage,
  extendedKeyUsage,
  type KeyUsage,
  keyUsage,
  subjectAltNames,
  subjectKeyId,
} from "./extensions.ts";
import { encodeSubject, type Subject } from "./subject.ts";

/** Valid now and for many years, so no test reads a clock; wrong times are given as options. */
export const VALID_FROM = new Date("2020-01-01T00:00:00Z");
export const VALID_UNTIL = new Date("2049-12-31T00:00:00Z");

export type Digest = "sha256" | "sha1";
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
  readonly basicConstraints?: BasicConstraints | "absent";
  readonly keyUsage?: readonly KeyUsage[] | "absent";
  readonly extendedKeyUsage?: readonly ExtendedKeyUsage[] | "absent";
  readonly subjectAltNames?: readonly string[];
  /** Without them only names tell authorities apart. */
  readonly keyIds?: "present" | "absent";
  /** Encoded extensions to add as they are. */
  readonly extraExtensions?: readonly Der[];
  /** 1 has no extensions at all. */
  readonly version?: 1 | 3;
  readonly digest?: Digest;
  /** True: one bit of the signature is flipped. */
  readonly brokenSignature?: boolean;
}

type CompleteOptions = CertificateOptions &
  Required<Pick<CertificateOptions, "basicConstraints" | "keyUsage" | "extendedKeyUsage">>;

export interface Certificate {
  readonly cert: string;
  readonly keys: KeyPair;
  /** As Node prints it: upper-case hex. */
  readonly serial: string;
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

/** A certificate signed by `issuer`, or by its own key when there is none. */
export function makeCertificate(chosen: CertificateOptions, issuer?: Authority): Certificate {
  const options = { ...DEFAULTS, keys: makeKeys(), serial: randomSerial(), ...chosen };
  const { subject, keys, serial } = options;
  const signer = issuer ?? { subject, keys };
  const algorithm = signatureAlgorithm(signer.keys, options.digest);
  const isVersion1 = options.version === 1;
  const body = sequence(
    ...(isVersion1 ? [] : [explicit(0, integer(2))]),
    unsignedInteger(serial),
    algorithm.id,
    encodeSubject(signer.subject),
    sequence(time(options.notBefore), time(options.notAfter)),
    encodeSubject(subject),
    keys.publicKey.export({ type: "spki", format: "der" }),
    ...(isVersion1 ? [] : [explicit(3, sequence(...extensions(options, keys, signer.keys)))]),
  );
  const cert = toPem("CERTIFICATE", signed(body, algorithm, options.brokenSignature));
  return { cert, keys, serial: serialText(serial) };
}

function serialText(serial: Uint8Array): string {
  return Buffer.from(serial)
    .toString("hex")
    .toUpperCase()
    .replace(/^(?:00)+(?=..)/u, "");
}

/** 128 bits whose first byte is neither zero nor reads as a minus, so that the hex text is the same everywhere. */
function randomSerial(): Uint8Array {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x3f) | 0x40, 0);
  return bytes;
}

export interface SignatureAlgorithm {
  readonly id: Der;
  sign(body: Der): Uint8Array;
}

export function signatureAlgorithm(keys: KeyPair, digest: Digest): SignatureAlgorithm {
  const { privateKey } = keys;
  switch (privateKey.asymmetricKeyType) {
    case "ec":
      return {
        id: sequence(oid(digest === "sha1" ? "1.2.840.10045.4.1" : "1.2.840.10045.4.3.2")),
        sign: (body) => sign(digest, body, privateKey),
      };
    case "rsa":
      return {
        id: sequence(oid(digest === "sha1" ? "1.2.840.113549.1.1.5" : "1.2.840.113549.1.1.11"), NULL),
        sign: (body) => sign(digest, body, privateKey),
      };
    default:
      return { id: sequence(oid("1.3.101.112")), sign: (body) => sign(null, body, privateKey) };
  }
}

export function signed(body: Der, algorithm: SignatureAlgorithm, broken = false): Der {
  const signature = Buffer.from(algorithm.sign(body));
  if (broken) signature.writeUInt8(signature.readUInt8(signature.length - 1) ^ 1, signature.length - 1);
  return sequence(body, algorithm.id, bitString(signature));
}

export function keyIdOf({ publicKey }: KeyPair): Uint8Array {
  return createHash("sha1")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest();
}

export function toPem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/gu) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}

function extensions(options: CompleteOptions, keys: KeyPair, signer: KeyPair): Der[] {
  return [
    ...(options.basicConstraints === "absent" ? [] : [basicConstraints(options.basicConstraints)]),
    ...(options.keyUsage === "absent" ? [] : [keyUsage(options.keyUsage)]),
    ...(options.extendedKeyUsage === "absent" ? [] : [extendedKeyUsage(options.extendedKeyUsage)]),
    ...(options.keyIds === "absent" ? [] : [subjectKeyId(keyIdOf(keys)), authorityKeyId(keyIdOf(signer))]),
    ...(options.subjectAltNames === undefined ? [] : [subjectAltNames(options.subjectAltNames)]),
    ...(options.extraExtensions ?? []),
  ];
}
