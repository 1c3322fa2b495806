import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";

/** The DER before the 32 bytes of an Ed25519 public key (RFC 8410). */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
const KEY_BYTES = 32;
const ALGORITHM = "EdDSA";

/** A long-lived Ed25519 key. It never leaves the cluster that made it. */
export interface IdentityKey {
  /** The 32 bytes of the public key in base64url. */
  readonly id: string;
  readonly privateKey: KeyObject;
}

export function generateIdentityKey(): IdentityKey {
  return identityKeyOf(generateKeyPairSync("ed25519").privateKey);
}

/** From PKCS #8 in PEM. Throws a RangeError if it is another kind of key. */
export function readIdentityKey(pem: string): IdentityKey {
  return identityKeyOf(createPrivateKey(pem));
}

function identityKeyOf(privateKey: KeyObject): IdentityKey {
  if (privateKey.asymmetricKeyType !== "ed25519") throw new RangeError("it is not an Ed25519 key");
  const spki = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  return { id: spki.subarray(SPKI_PREFIX.length).toString("base64url"), privateKey };
}

/** As ssh-keygen writes fingerprints: for people to compare. */
export function fingerprintOf(keyId: string): string {
  const digest = createHash("sha256").update(Buffer.from(keyId, "base64url")).digest("base64");
  return `SHA256:${digest.replace(/=+$/u, "")}`;
}

/** SHA-256 of a public key's SubjectPublicKeyInfo, hexadecimal. */
export function publicKeyHash(publicKey: KeyObject): string {
  return createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("hex");
}

/** What a broker keeps of a token's secret: SHA-256 of its text (base64url), hexadecimal. */
export function tokenSecretHash(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

export function signText(text: string, { privateKey }: IdentityKey): string {
  return sign(undefined, Buffer.from(text), privateKey).toString("base64url");
}

export function isSignedText(text: string, signature: string, keyId: string): boolean {
  const publicKey = publicKeyOf(keyId);
  if (publicKey === undefined) return false;
  return verify(undefined, Buffer.from(text), publicKey, Buffer.from(signature, "base64url"));
}

/** A compact JWS (RFC 7515) of a JSON value; `type` is its purpose. */
export function signJws(payload: unknown, type: string, key: IdentityKey): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: ALGORITHM, typ: type })}.${part(payload)}`;
  return `${signed}.${signText(signed, key)}`;
}

/** What a JWS says, whoever signed it. Undefined: it is none of this type, or its payload is no JSON. */
export function readJws(jws: string, type: string): unknown {
  const [header = "", payload = "", signature, ...rest] = jws.split(".");
  if (signature === undefined || rest.length > 0) return undefined;
  // One way to write the header is enough: nothing in it is for the sender to choose.
  const expected = Buffer.from(JSON.stringify({ alg: ALGORITHM, typ: type })).toString("base64url");
  if (header !== expected) return undefined;
  try {
    return JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}

/** True when this key has signed it. */
export function isSignedJws(jws: string, keyId: string): boolean {
  const end = jws.lastIndexOf(".");
  return end > 0 && isSignedText(jws.slice(0, end), jws.slice(end + 1), keyId);
}

function publicKeyOf(keyId: string): KeyObject | undefined {
  const bytes = Buffer.from(keyId, "base64url");
  // Keys are compared as texts: one key must have one text.
  if (bytes.length !== KEY_BYTES || bytes.toString("base64url") !== keyId) return undefined;
  try {
    return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, bytes]), format: "der", type: "spki" });
  } catch {
    return undefined;
  }
}
