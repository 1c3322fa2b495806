import { isIPv4 } from "node:net";
import { boolean, type Der, implicit, integer, namedBits, octetString, oid, sequence } from "./der.ts";

const KEY_USAGES = {
  digitalSignature: 0,
  keyEncipherment: 2,
  keyAgreement: 4,
  keyCertSign: 5,
  cRLSign: 6,
} as const;

const EXTENDED_KEY_USAGES = {
  any: "2.5.29.37.0",
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
  codeSigning: "1.3.6.1.5.5.7.3.3",
  emailProtection: "1.3.6.1.5.5.7.3.4",
} as const;

export type KeyUsage = keyof typeof KEY_USAGES;
export type ExtendedKeyUsage = keyof typeof EXTENDED_KEY_USAGES;

export interface BasicConstraints {
  readonly ca: boolean;
  readonly pathLength?: number;
}

export function extension(id: string, value: Der, critical = false): Der {
  return sequence(oid(id), ...(critical ? [boolean(true)] : []), octetString(value));
}

export function basicConstraints({ ca, pathLength }: BasicConstraints): Der {
  const length = pathLength === undefined ? [] : [integer(pathLength)];
  return extension("2.5.29.19", sequence(...(ca ? [boolean(true), ...length] : [])), true);
}

export function keyUsage(usages: readonly KeyUsage[]): Der {
  return extension("2.5.29.15", namedBits(usages.map((usage) => KEY_USAGES[usage])), true);
}

export function extendedKeyUsage(usages: readonly ExtendedKeyUsage[]): Der {
  return extension("2.5.29.37", sequence(...usages.map((usage) => oid(EXTENDED_KEY_USAGES[usage]))));
}

export function subjectKeyId(keyId: Uint8Array): Der {
  return extension("2.5.29.14", octetString(keyId));
}

export function authorityKeyId(keyId: Uint8Array): Der {
  return extension("2.5.29.35", sequence(implicit(0, keyId)));
}

/** Names written as `DNS:localhost`, `IP:127.0.0.1`, `URI:spiffe://…` or `email:…`. */
export function subjectAltNames(names: readonly string[]): Der {
  return extension("2.5.29.17", sequence(...names.map(generalName)));
}

const GENERAL_NAMES = { email: 1, DNS: 2, URI: 6, IP: 7 } as const;

function generalName(name: string): Der {
  const [kind = "", ...rest] = name.split(":");
  const value = rest.join(":");
  switch (kind) {
    case "email":
    case "DNS":
    case "URI":
      return implicit(GENERAL_NAMES[kind], Buffer.from(value, "latin1"));
    case "IP":
      return implicit(GENERAL_NAMES.IP, addressBytes(value));
    default:
      throw new TypeError(`${name}: write DNS:…, IP:…, URI:… or email:…`);
  }
}

function addressBytes(address: string): Uint8Array {
  if (isIPv4(address)) return Uint8Array.from(address.split(".").map(Number));
  const [before = "", after] = address.split("::");
  const head = groups(before);
  const tail = groups(after ?? "");
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => 0);
  return Uint8Array.from([...head, ...zeros, ...tail].flatMap((group) => [group >> 8, group & 0xff]));
}

function groups(part: string): number[] {
  return part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
}
