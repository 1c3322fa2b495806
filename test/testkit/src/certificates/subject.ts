import { AttributeTypeAndValue, AttributeValue, Name, RelativeDistinguishedName } from "@peculiar/asn1-x509";

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
} as const;

type StringType = "utf8" | "printable" | "teletex" | "ia5" | "universal" | "bmp";

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

export function nameOf(subject: Subject): Name {
  const parts = subject.map((part) => ("type" in part ? [part] : part));
  return new Name(parts.map((attributes) => new RelativeDistinguishedName(attributes.map(attributeOf))));
}

function attributeOf({ type, value, as = "utf8" }: Attribute): AttributeTypeAndValue {
  const text = as === "utf8" ? { utf8String: value } : { [`${as}String`]: value };
  return new AttributeTypeAndValue({ type: ATTRIBUTES[type], value: new AttributeValue(text) });
}
