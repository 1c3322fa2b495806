import { isIP, isIPv4 } from "node:net";
import { namedBits, objectId, octetString, retagged, sequence, smallInteger, TRUE } from "./write-der.ts";

const KEY_USAGE_BITS = { digitalSignature: 0, keyCertSign: 5, cRLSign: 6 } as const;
export type KeyUsage = keyof typeof KEY_USAGE_BITS;

export const EXTENDED_KEY_USAGE_IDS = {
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
} as const;
export type ExtendedKeyUsage = keyof typeof EXTENDED_KEY_USAGE_IDS;

/** A certificate that others may be signed with; `pathLength`: how many authorities may stand below it, one under the other. */
export function authorityConstraints(pathLength: number): Buffer {
  return extension("2.5.29.19", sequence(TRUE, smallInteger(pathLength)), "critical");
}

/** A certificate that signs nothing: written out, because a check for it must not depend on a default. */
export function leafConstraints(): Buffer {
  return extension("2.5.29.19", sequence(), "critical");
}

export function keyUsage(...usages: readonly KeyUsage[]): Buffer {
  return extension("2.5.29.15", namedBits(usages.map((usage) => KEY_USAGE_BITS[usage])), "critical");
}

export function extendedKeyUsage(...usages: readonly ExtendedKeyUsage[]): Buffer {
  return extension("2.5.29.37", sequence(...usages.map((usage) => objectId(EXTENDED_KEY_USAGE_IDS[usage]))));
}

export function subjectKeyId(keyId: Uint8Array): Buffer {
  return extension("2.5.29.14", octetString(keyId));
}

export function authorityKeyId(keyId: Uint8Array): Buffer {
  return extension("2.5.29.35", sequence(retagged(0, keyId)));
}

/** DNS names and IP addresses of a server. */
export function subjectAltName(hosts: readonly string[]): Buffer {
  return extension("2.5.29.17", sequence(...hosts.map(generalName)));
}

export function crlNumber(number: number): Buffer {
  return extension("2.5.29.20", smallInteger(number));
}

export function extension(id: string, value: Uint8Array, critical?: "critical"): Buffer {
  return sequence(objectId(id), ...(critical === undefined ? [] : [TRUE]), octetString(value));
}

function generalName(host: string): Buffer {
  return isIP(host) === 0 ? retagged(2, Buffer.from(host, "latin1")) : retagged(7, addressBytes(host));
}

function addressBytes(address: string): Uint8Array {
  if (isIPv4(address)) return Uint8Array.from(address.split(".").map(Number));
  // A URL writes every IPv6 address the same way: no zone, no dotted end.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical.split("::").map(groups);
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => 0);
  return Uint8Array.from([...head, ...zeros, ...tail].flatMap((group) => [group >> 8, group & 0xff]));
}

function groups(part: string): number[] {
  return part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
}
