import { createHash, generateKeyPair, type KeyObject, sign, type X509Certificate } from "node:crypto";
import { promisify } from "node:util";
import { elementAt } from "./read-der.ts";
import { bitString, objectId, sequence } from "./write-der.ts";

/** Who signs: the name and the key that the certificates below will point at. */
export interface Issuer {
  /** The issuer's name as in its own certificate, byte for byte. */
  readonly name: Uint8Array;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  /** The key ID in its own certificate; absent: the one that we give. */
  readonly keyId?: Uint8Array;
  /** Where serial numbers come from. */
  readonly randomBytes: (size: number) => Uint8Array;
}

const generate = promisify(generateKeyPair);

export function generateKeys(): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
  return generate("ec", { namedCurve: "P-256" });
}

export const SIGNATURE_ALGORITHM: Buffer = sequence(objectId("1.2.840.10045.4.3.2")); // ecdsa-with-SHA256

/** The signed whole: what is signed, how, and the signature. */
export function signed(body: Uint8Array, privateKey: KeyObject): Buffer {
  return sequence(body, SIGNATURE_ALGORITHM, bitString(sign("sha256", body, privateKey)));
}

/** RFC 7093, method 1: the first 160 bits of the SHA-256 of the public key's bits. */
export function keyIdOf(publicKey: KeyObject): Buffer {
  const { content } = elementAt(spkiOf(publicKey), 0, 1);
  return createHash("sha256").update(content.subarray(1)).digest().subarray(0, 20);
}

export function spkiOf(publicKey: KeyObject): Buffer {
  return publicKey.export({ type: "spki", format: "der" });
}

export function subjectOf(certificate: X509Certificate): Uint8Array {
  return elementAt(certificate.raw, 0, 0, 5).whole;
}

export function toKeyPem(privateKey: KeyObject): string {
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}
