import { createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { readPem, toPem } from "./pem.ts";
import { type Element, readElements, TAG } from "./read-der.ts";
import { spkiOf } from "./sign.ts";
import { bitString, objectId, sequence, set, smallInteger, tagged, utf8String } from "./write-der.ts";

/** Object identifiers of the attributes that are read and written by name. */
export const SUBJECT_ATTRIBUTE = { commonName: "2.5.4.3", organization: "2.5.4.10" } as const;

const SHORT_NAMES: Readonly<Record<string, string>> = {
  [SUBJECT_ATTRIBUTE.commonName]: "CN",
  [SUBJECT_ATTRIBUTE.organization]: "O",
  "2.5.4.6": "C",
  "2.5.4.7": "L",
  "2.5.4.8": "ST",
  "2.5.4.11": "OU",
};
const LABEL = "CERTIFICATE REQUEST";
const MAX_LENGTH = 8192;
const STRING_TAGS: readonly number[] = [0x0c, 0x13];
const INTEGER = 0x02;
const ATTRIBUTES_TAG = 0xa0;
const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 8192;
const CURVES: readonly string[] = ["prime256v1", "secp384r1", "secp521r1"];

interface Algorithm {
  readonly id: string;
  /** Undefined: the key's own (Ed25519). */
  readonly hash: string | undefined;
  readonly keyType: string;
}

const ALGORITHMS: readonly Algorithm[] = [
  { id: "1.3.101.112", hash: undefined, keyType: "ed25519" },
  { id: "1.2.840.10045.4.3.2", hash: "sha256", keyType: "ec" },
  { id: "1.2.840.10045.4.3.3", hash: "sha384", keyType: "ec" },
  { id: "1.2.840.10045.4.3.4", hash: "sha512", keyType: "ec" },
  { id: "1.2.840.113549.1.1.11", hash: "sha256", keyType: "rsa" },
];

export interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** One attribute of a subject: its object identifier and its text. */
export type SubjectAttribute = readonly [id: string, value: string];

/** A request for a certificate in PEM (PKCS #10), without attributes or extensions. */
export function makeCsr(subject: readonly SubjectAttribute[], { publicKey, privateKey }: Keys): string {
  const algorithm = ALGORITHMS.find(({ keyType }) => keyType === publicKey.asymmetricKeyType);
  if (algorithm === undefined)
    throw new RangeError(`no request is made for a key of type ${publicKey.asymmetricKeyType}`);
  const name = sequence(...subject.map(([id, value]) => set(sequence(objectId(id), utf8String(value)))));
  const body = sequence(smallInteger(0), name, spkiOf(publicKey), tagged(0));
  const parameters = algorithm.keyType === "rsa" ? [Uint8Array.of(0x05, 0)] : [];
  const algorithmId = sequence(objectId(algorithm.id), ...parameters);
  return toPem(LABEL, sequence(body, algorithmId, bitString(sign(algorithm.hash, body, privateKey))));
}

/** A request whose signature is good and whose key is strong. */
export interface Csr {
  /** In the order of the request. */
  readonly subject: readonly SubjectAttribute[];
  readonly publicKey: KeyObject;
  /** True: it asks for extensions or carries other attributes. */
  readonly hasAttributes: boolean;
}

/** Reads exactly one request in PEM. Throws a RangeError that says what is wrong with it. */
export function readCsr(pem: string): Csr {
  if (pem.length > MAX_LENGTH) throw new RangeError(`the request is longer than ${MAX_LENGTH} characters`);
  const [block, ...others] = readPem(pem);
  if (block === undefined || others.length > 0 || block.label !== LABEL)
    throw new RangeError(`it is not one ${LABEL} in PEM`);
  if (withoutSpaces(pem) !== withoutSpaces(toPem(LABEL, block.der)))
    throw new RangeError(`it has more in it than one ${LABEL} in PEM: remove all other text`);
  const [request] = parts(block.der, [TAG.sequence]);
  const [body, algorithmId, signature] = parts(request.content, [TAG.sequence, TAG.sequence, TAG.bitString]);
  const isOldForm = readElements(body.content).length < 4;
  const tags = [INTEGER, TAG.sequence, TAG.sequence, ...(isOldForm ? [] : [ATTRIBUTES_TAG])];
  const [, name, spki, attributes] = parts(body.content, tags);
  const publicKey = readStrongKey(spki.whole);
  const { hash } = algorithmOf(algorithmId, publicKey);
  if (!verify(hash, body.whole, publicKey, signature.content.subarray(1)))
    throw new RangeError("its signature is wrong");
  const hasAttributes = !isOldForm && attributes.content.length > 0;
  return { subject: readSubject(name), publicKey, hasAttributes };
}

/** Signers read the text again, with another parser: there must be nothing else in it that they could read. */
function withoutSpaces(text: string): string {
  return text.replaceAll(/\s/gu, "");
}

/** The elements in `bytes`, which must be exactly as many and of these tags. */
function parts(bytes: Buffer, tags: readonly number[]): readonly [Element, Element, Element, Element] {
  const found = readElements(bytes);
  const isExpected = found.length === tags.length && found.every(({ tag }, index) => tag === tags[index]);
  if (!isExpected) throw new RangeError("it has not the parts of a request");
  const none: Element = { tag: 0, content: Buffer.alloc(0), whole: Buffer.alloc(0) };
  const [first = none, second = none, third = none, fourth = none] = found;
  return [first, second, third, fourth];
}

/** Throws unless the subject has exactly these attributes, in any order, and nothing else is asked for. */
export function requireSubject(csr: Csr, wanted: readonly SubjectAttribute[]): void {
  const text = (attributes: readonly SubjectAttribute[]): string =>
    JSON.stringify(attributes.map(([id, value]) => `${id}=${value}`).sort());
  if (text(csr.subject) !== text(wanted))
    throw new RangeError(`its subject is ${shown(csr.subject)} instead of ${shown(wanted)}`);
  if (csr.hasAttributes) throw new RangeError("it asks for extensions or has other attributes");
}

/** As openssl writes a subject. */
function shown(subject: readonly SubjectAttribute[]): string {
  return JSON.stringify(subject.map(([id, value]) => `${SHORT_NAMES[id] ?? id}=${value}`).join(", "));
}

function readSubject(name: Element): SubjectAttribute[] {
  return readElements(name.content).map(({ content }) => {
    const [pair, ...others] = readElements(content);
    if (pair === undefined || others.length > 0)
      throw new RangeError("its subject has several attributes in one place");
    const [id, value, ...rest] = readElements(pair.content);
    if (id === undefined || value === undefined || rest.length > 0)
      throw new RangeError("an attribute of its subject is no pair");
    if (!STRING_TAGS.includes(value.tag))
      throw new RangeError("an attribute of its subject is no plain text");
    return [dotted(id.content), value.content.toString("utf8")] as const;
  });
}

/** A public key from its SubjectPublicKeyInfo in DER. Throws a RangeError unless it is strong and written in the one right way. */
export function readStrongKey(spki: Buffer): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: spki, format: "der", type: "spki" });
  } catch (cause) {
    throw new RangeError("its key cannot be read", { cause });
  }
  if (!spkiOf(key).equals(spki)) throw new RangeError("its key is not written in the usual way");
  if (!isStrong(key)) throw new RangeError("its key is weak or of an unknown kind");
  return key;
}

function isStrong({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): boolean {
  const { modulusLength = 0, namedCurve = "" } = details;
  if (type === "rsa") return modulusLength >= MIN_RSA_BITS && modulusLength <= MAX_RSA_BITS;
  return type === "ed25519" || (type === "ec" && CURVES.includes(namedCurve));
}

function algorithmOf(algorithmId: Element, publicKey: KeyObject): Algorithm {
  const [id] = readElements(algorithmId.content);
  const name = id === undefined ? "" : dotted(id.content);
  const found = ALGORITHMS.find((known) => known.id === name);
  if (found === undefined || found.keyType !== publicKey.asymmetricKeyType)
    throw new RangeError("it is signed in an unknown or weak way");
  return found;
}

function dotted(content: Buffer): string {
  const numbers: number[] = [];
  let value = 0;
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    numbers.push(value);
    value = 0;
  }
  const [first = 0, ...rest] = numbers;
  return [
    Math.min(2, Math.floor(first / 40)),
    first - 40 * Math.min(2, Math.floor(first / 40)),
    ...rest,
  ].join(".");
}
