import type { X509Certificate } from "node:crypto";
import { type Element, elementAt, readElements } from "./read-der.ts";

/** The two extensions that tell keys of the same name apart (RFC 5280 §4.2.1.1 and 4.2.1.2), as they begin in DER. */
const AUTHORITY_KEY_ID = Buffer.from("0603551d23", "hex");
const SUBJECT_KEY_ID = Buffer.from("0603551d0e", "hex");
const KEY_ID_TAG = 0x80;
const VERSION_TAG = 0xa0;
const CERTIFICATE_EXTENSIONS_TAG = 0xa3;
const CRL_EXTENSIONS_TAG = 0xa0;

/** Who a certificate is for, as DER, and the id of its key where it says so. */
export interface SubjectId {
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
export function authorityKeyIdIn(fields: readonly Element[]): string | undefined {
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
