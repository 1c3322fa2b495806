import type { X509Certificate } from "node:crypto";
import { elementAt, readElements } from "./read-der.ts";
import { objectId } from "./write-der.ts";

const SUBJECT_KEY_ID = objectId("2.5.29.14");
const BASIC_CONSTRAINTS = objectId("2.5.29.19");
const EXTENSIONS_TAG = 0xa3;
const INTEGER_TAG = 0x02;

/** The key ID by which certificates below name this one; undefined: it states none. */
export function subjectKeyIdOf(certificate: X509Certificate): Buffer | undefined {
  const value = extensionOf(certificate, SUBJECT_KEY_ID);
  return value === undefined ? undefined : elementAt(value, 0).content;
}

/** How many authorities may stand below this one, one under the other; undefined: any number. */
export function pathLengthOf(certificate: X509Certificate): number | undefined {
  const value = extensionOf(certificate, BASIC_CONSTRAINTS);
  if (value === undefined) return undefined;
  const length = readElements(elementAt(value, 0).content).find(({ tag }) => tag === INTEGER_TAG);
  return length === undefined ? undefined : length.content.readUIntBE(0, Math.min(6, length.content.length));
}

function extensionOf(certificate: X509Certificate, id: Buffer): Buffer | undefined {
  const body = elementAt(certificate.raw, 0, 0);
  const tagged = readElements(body.content).find(({ tag }) => tag === EXTENSIONS_TAG);
  if (tagged === undefined) return undefined;
  for (const { content } of readElements(elementAt(tagged.content, 0).content)) {
    const [name, ...rest] = readElements(content);
    if (name !== undefined && name.whole.equals(id)) return rest.at(-1)?.content;
  }
  return undefined;
}
