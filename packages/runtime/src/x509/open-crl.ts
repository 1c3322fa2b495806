import { type KeyObject, verify } from "node:crypto";
import { authorityKeyIdIn } from "./key-ids.ts";
import { type Element, elementAt, elementsIn, readElements, readTime, TAG } from "./read-der.ts";

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
