import { type Der, oid, type StringType, sequence, set, text } from "./der.ts";

/** What a name may be made of: the attribute types that certificates in the field carry. */
const ATTRIBUTES = {
  CN: "2.5.4.3",
  serialNumber: "2.5.4.5",
  C: "2.5.4.6",
  L: "2.5.4.7",
  O: "2.5.4.10",
  OU: "2.5.4.11",
  UID: "0.9.2342.19200300.100.1.1",
  DC: "0.9.2342.19200300.100.1.25",
  emailAddress: "1.2.840.113549.1.9.1",
} as const;

export interface Attribute {
  readonly type: keyof typeof ATTRIBUTES;
  readonly value: string;
  /** How the text is written down; the default is UTF8String. */
  readonly as?: StringType;
}

/** A subject in order; an inner list is one multi-valued part (`CN=rome+OU=lab`). */
export type Subject = readonly (Attribute | readonly Attribute[])[];

export function commonName(value: string, as: StringType = "utf8"): Attribute {
  return { type: "CN", value, as };
}

export function encodeSubject(subject: Subject): Der {
  return sequence(...subject.map((part) => encodePart("type" in part ? [part] : part)));
}

function encodePart(attributes: readonly Attribute[]): Der {
  const encoded = attributes.map(({ type, value, as = "utf8" }) =>
    sequence(oid(ATTRIBUTES[type]), text(value, as)),
  );
  return set(...encoded.toSorted((a, b) => Buffer.compare(a, b))); // DER sorts what is inside a SET
}
