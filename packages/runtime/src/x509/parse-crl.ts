import { type KeyObject, verify, type X509Certificate } from "node:crypto";
import { type Element, elementAt, elementsIn, readElements, readTime, TAG } from "./read-der.ts";

/** The two extensions that distinguish keys of the same name (RFC 5280 §4.2.1.1 and 4.2.1.2), as they begin in DER. */
const AUTHORITY_KEY_ID = Buffer.from("0603551d23", "hex");
const SUBJECT_KEY_ID = Buffer.from("0603551d0e", "hex");
const KEY_ID_TAG = 0x80;
const VERSION_TAG = 0xa0;
const CERTIFICATE_EXTENSIONS_TAG = 0xa3;
const CRL_EXTENSIONS_TAG = 0xa0;

/** Who a certificate is for, as DER, and the id of its key where it says so. */
interface SubjectId {
  readonly name: Buffer;
  readonly keyId: string | undefined;
}

export function subjectIdOf({ raw }: X509Certificate): SubjectId {
  // version?, serial, algorithm, issuer, validity, subject, key, …
  const fields = readElements(elementAt(raw, 0, 0).content);
  const isVersioned = fields[0]?.tag === VERSION_TAG;
  const subject = fields[isVersioned ? 5 : 4];
  if (subject === undefined) throw new RangeError("the certificate has no subject");
  const value = extensionIn(
    fields.find(({ tag }) => tag === CERTIFICATE_EXTENSIONS_TAG),
    SUBJECT_KEY_ID,
  );
  return { name: subject.whole, keyId: value && elementAt(value, 0).content.toString("hex") };
}

/** The id of the key that signed a revocation list, where an extension among its `fields` says it. */
function authorityKeyIdIn(fields: readonly Element[]): string | undefined {
  const value = extensionIn(
    fields.find(({ tag }) => tag === CRL_EXTENSIONS_TAG),
    AUTHORITY_KEY_ID,
  );
  if (value === undefined) return undefined;
  const keyId = readElements(elementAt(value, 0).content).find(({ tag }) => tag === KEY_ID_TAG);
  return keyId?.content.toString("hex");
}

/** What the extension holds; `field` is the one with all extensions. */
function extensionIn(field: Element | undefined, id: Buffer): Buffer | undefined {
  if (field === undefined) return undefined;
  const all = readElements(elementAt(field.content, 0).content);
  const found = all.find(({ content }) => content.subarray(0, id.length).equals(id));
  return found === undefined ? undefined : readElements(found.content).at(-1)?.content;
}

/** A parsed revocation list. Verify its signature before using it. */
export interface ParsedCrl {
  readonly isSignedBy: (publicKey: KeyObject) => boolean;
  /** Whose list it says it is: a name as DER, and the id of the key that signed it where it says so. */
  readonly issuer: { readonly name: Buffer; readonly keyId: string | undefined };
  readonly thisUpdate: number;
  /** When a newer list should have come; undefined: the list does not say. */
  readonly nextUpdate: number | undefined;
  /** One by one: there may be a hundred thousand. */
  readonly entries: () => Iterable<CrlEntry>;
}

export interface CrlEntry {
  /** As Node prints serial numbers: upper-case hex without leading zero bytes. */
  readonly serial: string;
  readonly revokedAt: () => number;
}

/** Signature algorithms by their identifier in hex; null: the key says it all. */
const DIGESTS: Readonly<Record<string, string | null>> = {
  "2a8648ce3d040302": "sha256",
  "2a8648ce3d040303": "sha384",
  "2a8648ce3d040304": "sha512",
  "2a864886f70d01010b": "sha256",
  "2a864886f70d01010c": "sha384",
  "2a864886f70d01010d": "sha512",
  "2b6570": null,
};
/** Unsupported critical extensions: delta lists and indirect lists. */
const UNSUPPORTED = [Buffer.from("0603551d1b", "hex"), Buffer.from("0603551d1d", "hex")];

/** Throws when it is no list, or one of a kind that cannot be understood. */
export function parseCrl(der: Buffer): ParsedCrl {
  const [body, algorithm, signature] = readElements(elementAt(der, 0).content);
  if (body === undefined || algorithm === undefined || signature?.tag !== TAG.bitString) {
    throw new RangeError("it is not a revocation list");
  }
  const digest = digestOf(algorithm);
  // The first byte of a bit string counts unused bits; a signature has none.
  const proof = signature.content.subarray(1);
  return {
    isSignedBy: (publicKey) => {
      try {
        return verify(digest, body.whole, publicKey, proof);
      } catch {
        // The key is of another kind than the signature.
        return false;
      }
    },
    ...readBody(body),
  };
}

function digestOf(algorithm: Element): string | null {
  const [identifier] = elementsIn(algorithm.content);
  const name = identifier?.content.toString("hex") ?? "";
  const digest = Object.hasOwn(DIGESTS, name) ? DIGESTS[name] : undefined;
  if (digest === undefined) throw new RangeError("it is signed in a way that is not supported");
  return digest;
}

function readBody(body: Element): Omit<ParsedCrl, "isSignedBy"> {
  // version?, algorithm, issuer, thisUpdate, nextUpdate?, revoked?, extensions?
  const fields = readElements(body.content);
  const firstTime = fields.findIndex(isTime);
  const [thisUpdate, next, ...others] = fields.slice(firstTime);
  if (thisUpdate === undefined || !isTime(thisUpdate)) throw new RangeError("the list has no date");
  const name = fields[firstTime - 1];
  if (name === undefined) throw new RangeError("the list names no issuer");
  const nextUpdate = next !== undefined && isTime(next) ? next : undefined;
  const rest = nextUpdate === undefined && next !== undefined ? [next, ...others] : others;
  for (const field of rest) refuseUnsupported(field);
  const revoked = rest.find(({ tag }) => tag === TAG.sequence);
  return {
    issuer: { name: name.whole, keyId: authorityKeyIdIn(rest) },
    thisUpdate: readTime(thisUpdate),
    nextUpdate: nextUpdate === undefined ? undefined : readTime(nextUpdate),
    entries: () => (revoked === undefined ? [] : entriesIn(revoked)),
  };
}

function* entriesIn(revoked: Element): Generator<CrlEntry> {
  for (const entry of elementsIn(revoked.content)) {
    const [serial, at] = readElements(entry.content);
    if (serial === undefined || at === undefined) throw new RangeError("an entry of the list is cut short");
    const text = serial.content.toString("hex").toUpperCase();
    yield { serial: text.replace(/^(?:00)+(?=..)/u, ""), revokedAt: () => readTime(at) };
  }
}

function refuseUnsupported({ content }: Element): void {
  if (UNSUPPORTED.some((extension) => content.includes(extension))) {
    throw new RangeError("it is a delta list or a list for other issuers; give complete lists");
  }
}

function isTime({ tag }: Element): boolean {
  return tag === TAG.utcTime || tag === TAG.time;
}
