import { verify, type X509Certificate } from "node:crypto";
import { contentOf, type Element, elementsIn, readElement, TAG } from "./der.ts";
import { pemBlocks } from "./pem.ts";

/** What one authority has taken back. */
export interface RevocationList {
  readonly issuer: X509Certificate;
  /** Serial numbers as Node prints them: upper-case hex. */
  readonly serials: ReadonlySet<string>;
  /** When a newer list should have come; undefined: the list does not say. */
  readonly nextUpdateMs: number | undefined;
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
/** Extensions that change what the list means (delta lists, lists for other issuers): reading on would be a guess. */
const UNSUPPORTED = [Buffer.from("0603551d1b", "hex"), Buffer.from("0603551d1d", "hex")];

/** Reads every list in a PEM text. Each must be signed by one of the authorities, or it would protect from nothing. */
export function readRevocationLists(
  pem: string,
  authorities: readonly X509Certificate[],
): readonly RevocationList[] {
  const blocks = pemBlocks(pem, "X509 CRL");
  if (blocks.length === 0) throw new Error("it holds no revocation list (-----BEGIN X509 CRL-----)");
  return blocks.map((bytes) => readRevocationList(bytes, authorities));
}

function readRevocationList(bytes: Buffer, authorities: readonly X509Certificate[]): RevocationList {
  const outer = readElement(bytes, 0, bytes.length);
  const [body, algorithm, signature] = elementsIn(bytes, outer);
  if (body === undefined || algorithm === undefined || signature?.tag !== TAG.bitString) {
    throw new Error("it is not a revocation list");
  }
  const signedBytes = bytes.subarray(outer.start, body.end);
  // The first byte of a bit string counts unused bits; a signature has none.
  const proof = bytes.subarray(signature.start + 1, signature.end);
  const digest = digestOf(bytes, algorithm);
  const issuer = authorities.find(({ publicKey }) => verifies(digest, signedBytes, { publicKey, proof }));
  if (issuer === undefined) throw new Error("it is not signed by any certificate in ca.crt");
  return { issuer, ...readBody(bytes, body) };
}

interface Proof {
  readonly publicKey: X509Certificate["publicKey"];
  readonly proof: Buffer;
}

function verifies(digest: string | null, signedBytes: Buffer, { publicKey, proof }: Proof): boolean {
  try {
    return verify(digest, signedBytes, publicKey, proof);
  } catch {
    // The key is of another kind than the signature.
    return false;
  }
}

function digestOf(bytes: Buffer, algorithm: Element): string | null {
  const [identifier] = elementsIn(bytes, algorithm);
  const name = identifier === undefined ? "" : Buffer.from(contentOf(bytes, identifier)).toString("hex");
  const digest = Object.hasOwn(DIGESTS, name) ? DIGESTS[name] : undefined;
  if (digest === undefined) throw new Error("it is signed in a way that is not supported");
  return digest;
}

function readBody(bytes: Buffer, body: Element): Omit<RevocationList, "issuer"> {
  const fields = [...elementsIn(bytes, body)];
  // version?, algorithm, issuer, thisUpdate, nextUpdate?, revoked?, extensions?
  const thisUpdate = fields.findIndex(isTime);
  const [next, ...others] = fields.slice(thisUpdate + 1);
  const nextUpdate = next !== undefined && isTime(next) ? next : undefined;
  const rest = nextUpdate === undefined && next !== undefined ? [next, ...others] : others;
  for (const field of rest) refuseUnsupported(bytes, field);
  const revoked = rest.find(({ tag }) => tag === TAG.sequence);
  return {
    serials: new Set(revoked === undefined ? [] : serialsIn(bytes, revoked)),
    nextUpdateMs: nextUpdate === undefined ? undefined : readTime(bytes, nextUpdate),
  };
}

function* serialsIn(bytes: Buffer, revoked: Element): Generator<string> {
  for (const entry of elementsIn(bytes, revoked)) {
    const serial = readElement(bytes, entry.start, entry.end);
    const text = Buffer.from(contentOf(bytes, serial)).toString("hex").toUpperCase();
    yield text.replace(/^(?:00)+(?=..)/, "");
  }
}

function refuseUnsupported(bytes: Buffer, field: Element): void {
  const content = bytes.subarray(field.start, field.end);
  if (UNSUPPORTED.some((extension) => content.includes(extension))) {
    throw new Error("it is a delta list or a list for other issuers; give complete lists");
  }
}

function isTime({ tag }: Element): boolean {
  return tag === TAG.utcTime || tag === TAG.time;
}

/** `260701100000Z` or `20260701100000Z`. */
function readTime(bytes: Buffer, element: Element): number {
  const text = Buffer.from(contentOf(bytes, element)).toString("latin1");
  const full = element.tag === TAG.time ? text : `${Number(text.slice(0, 2)) < 50 ? "20" : "19"}${text}`;
  const [year, month, day, hour, minute, second] = [0, 4, 6, 8, 10, 12].map((from, index) =>
    full.slice(from, from + (index === 0 ? 4 : 2)),
  );
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
