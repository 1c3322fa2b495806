import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { clusterId, duration, shownClusterId, time } from "../schema/terms.ts";
import { LIMIT } from "./protocol.ts";

/** What keys and signatures look like. */
export const EXAMPLE = {
  key: "27oQAdftuRs2ydaHgyWsmTZHzJUtlU3HT-AvakBj8PA",
  publicKey: "MCowBQYDK2VwAyEA27oQAdftuRs2ydaHgyWsmTZHzJUtlU3HT+AvakBj8PA=",
  signature: "jz7ej0JqqalD3EzoNZAiVA9A5c8d4wSP_sMeyQFYC89uhpWd4DfTrRc6JuiLjPApbR1mHv4ZI-EjDZoKiqR2BA",
  fingerprint: "SHA256:mOteGy/ENW1MOKa8hwBik8jnj/iiIbx1H6SKZPRIF00",
  secretHash: "50d858e0985ecc7f60418aaf0cc5ab587f42c2570a884095a9e8ccacd0f6545c",
} as const;

const base64url = (length: number, expects: string) =>
  t.matching(`^[A-Za-z0-9_-]{${length}}$`, expects, { maxLength: length });
/** An Ed25519 public key: 32 bytes. */
export const identityKeySchema = base64url(43, "an Ed25519 public key of 32 bytes in base64url");
const signatureSchema = base64url(86, "an Ed25519 signature of 64 bytes in base64url");
const fingerprintSchema = t.matching("^SHA256:[A-Za-z0-9+/]{43}$", "SHA256: and 43 characters of base64", {
  maxLength: 50,
});
const tokenIdSchema = t.matching("^[a-z0-9]{10}$", "ten lower-case letters or digits", { maxLength: 10 });
const tokenSecretSchema = base64url(43, "32 bytes in base64url");
const publicKeySchema = t.matching("^[A-Za-z0-9+/]+={0,2}$", "a public key in DER (SPKI), in base64", {
  maxLength: LIMIT.publicKeyLength,
});
const certificatesSchema = t.prose(LIMIT.certificatesLength);
const csrSchema = t.prose(4096);

export const trustSchema = t.message("TrustDTO", "What a new agent needs to know before it enrolls.", {
  authorities: t.required(
    certificatesSchema,
    "The authorities in PEM that the broker's own certificate leads to. Take only one whose key has the hash that came with the invitation.",
  ),
  signer: t.required(
    t.oneOf("embedded", "cert-manager", "none"),
    "Who signs certificates of new agents. cert-manager: send a CSR. none: this broker enrolls nobody.",
    "embedded",
  ),
});
export type TrustDTO = Infer<typeof trustSchema>;

const keyFields = {
  identityKey: t.required(identityKeySchema, "The long-lived key of this agent.", EXAMPLE.key),
  publicKey: t.required(publicKeySchema, "The key that the certificate is wanted for.", EXAMPLE.publicKey),
  keySignature: t.required(
    signatureSchema,
    "By the identity key: it vouches for publicKey.",
    EXAMPLE.signature,
  ),
  csr: t.optional(csrSchema, "In PEM, for exactly CN=<cluster ID>; only where the signer needs one."),
};

export const enrollmentSchema = t.message("EnrollmentDTO", "A new agent uses its invitation.", {
  clusterID: t.required(clusterId(), "The cluster that the invitation is for.", "rome"),
  tokenID: t.required(tokenIdSchema, "The part of the token that is no secret.", "k3u7dq2hvm"),
  secret: t.required(tokenSecretSchema, "The part of the token that is.", EXAMPLE.key),
  ...keyFields,
  tokenSignature: t.required(
    signatureSchema,
    "By the identity key: over token, authority and cluster.",
    EXAMPLE.signature,
  ),
});
export type EnrollmentDTO = Infer<typeof enrollmentSchema>;

export const certificateRequestSchema = t.message(
  "CertificateRequestDTO",
  "An enrolled agent asks for its next certificate.",
  keyFields,
);
export type CertificateRequestDTO = Infer<typeof certificateRequestSchema>;

export const certificateReplySchema = t.message(
  "CertificateReplyDTO",
  "The certificate, or what it waits for.",
  {
    state: t.required(
      t.oneOf("issued", "waiting"),
      "waiting (202): an admin must accept the fingerprint, or the signer is not ready; ask again with the same keys.",
      "issued",
    ),
    message: t.optional(
      t.line(LIMIT.reasonLength),
      "waiting: what for.",
      "brokerctl accept rome --fingerprint SHA256:…",
    ),
    certificate: t.optional(certificatesSchema, "issued: in PEM, followed by its intermediates."),
    authorities: t.optional(
      certificatesSchema,
      "issued: the authorities that the broker's certificate leads to.",
    ),
    notAfter: t.optional(time(), "issued: when it expires.", "2026-07-31T10:00:00Z"),
  },
);
export type CertificateReplyDTO = Infer<typeof certificateReplySchema>;

export const invitationRequestSchema = t.message("InvitationRequestDTO", "Invites a cluster to join.", {
  clusterID: t.required(clusterId(), "The ID that it will have.", "rome"),
  tokenID: t.required(tokenIdSchema, "Of the token that the caller made.", "k3u7dq2hvm"),
  secretHash: t.required(
    t.matching("^[0-9a-f]{64}$", "a SHA-256 digest in hexadecimal", { maxLength: 64 }),
    "SHA-256 of the token's secret: the broker never sees the secret itself before it is used.",
    EXAMPLE.secretHash,
  ),
  lifetime: t.optional(
    duration("positive"),
    "How long the token can be used: at most 168h. Absent: 1h.",
    "1h",
  ),
  confirm: t.optional(
    t.boolean(),
    "True: an admin must accept the agent's fingerprint before it gets a certificate.",
    false,
  ),
  replace: t.optional(t.boolean(), "True: an agent that has this ID is evicted first.", false),
});
export type InvitationRequestDTO = Infer<typeof invitationRequestSchema>;

export const memberSchema = t.message(
  "MemberDTO",
  "A cluster that was invited, or whose identity key is bound.",
  {
    clusterID: t.required(shownClusterId(), "The cluster.", "rome"),
    state: t.required(
      t.oneOf("invited", "unconfirmed", "expired", "joined", "evicted"),
      "invited: the token was not used yet. unconfirmed: an agent waits for brokerctl accept. expired: the token was not used in time. joined: the identity key is bound. evicted: every call is refused.",
      "joined",
    ),
    fingerprint: t.optional(
      fingerprintSchema,
      "Of the identity key: bound, or (unconfirmed) waiting for it.",
    ),
    tokenID: t.optional(tokenIdSchema, "Of the latest invitation.", "k3u7dq2hvm"),
    invitedBy: t.optional(t.line(253), "The admin who made it.", "ops"),
    expiresAt: t.optional(time(), "When the invitation expires.", "2026-07-01T11:00:00Z"),
    since: t.required(time(), "When it got into this state.", "2026-07-01T10:00:00Z"),
  },
);
export type MemberDTO = Infer<typeof memberSchema>;

export const memberListSchema = t.titled(
  "MemberListDTO",
  t.array(memberSchema, 10_000),
  "Every member, in the order of cluster IDs.",
);

export const acceptanceSchema = t.message(
  "AcceptanceDTO",
  "An admin accepts the identity key of a cluster.",
  {
    fingerprint: t.required(fingerprintSchema, "As the agent's own log shows it.", EXAMPLE.fingerprint),
  },
);

export const evictionSchema = t.message("EvictionDTO", "An admin ends the membership of a cluster.", {
  reason: t.optional(t.line(LIMIT.reasonLength), "Why.", "its machines were sold"),
});

/** What the broker keeps of a token, and what the agent proves. */
export interface JoinToken {
  readonly id: string;
  /** base64url of 32 bytes. */
  readonly secret: string;
}

const TOKEN = /^rbj1\.([a-z0-9]{10})\.([A-Za-z0-9_-]{43})\.([0-9a-f]{8})$/;

export function formatToken({ id, secret }: JoinToken): string {
  return `rbj1.${id}.${secret}.${checksum(`${id}.${secret}`)}`;
}

/** Undefined: it is no token, or was cut or mistyped. */
export function parseToken(text: string): JoinToken | undefined {
  const [, id, secret, given] = TOKEN.exec(text.trim()) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  return given === checksum(`${id}.${secret}`) ? { id, secret } : undefined;
}

/** CRC-32, as zip files have it: finds tokens that were not copied whole. */
function checksum(text: string): string {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index++) {
    crc ^= text.charCodeAt(index);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, "0");
}

/** Keys of the Secret that `brokerctl invite` writes and an agent reads. */
export const JOIN_SECRET = {
  name: "resource-broker-join",
  clusterId: "clusterID",
  token: "token",
  /** One URL per line. */
  brokerUrls: "brokerURLs",
  /** SHA-256 of an authority's SubjectPublicKeyInfo in hexadecimal, one per line. */
  caHashes: "caHashes",
} as const;

/** Keys of the agent's own Secret. */
export const IDENTITY_SECRET = {
  name: "resource-broker-agent-identity",
  identityKey: "identity.key",
  tlsKey: "tls.key",
  certificate: "tls.crt",
  authorities: "ca.crt",
  /** The id of the token that this agent joined with last. */
  tokenId: "tokenID",
} as const;

/** What identity keys and certificate keys sign. Each text begins with its purpose, so that none can serve another. */
export const SIGNED_TEXT = {
  /** By the identity key, for the key of a certificate; `publicKeyHash`: SHA-256 of its SPKI, hexadecimal. */
  certificateKey: (clusterID: string, publicKeyHash: string): string =>
    `rear/certificate-key/1\n${clusterID}\n${publicKeyHash}`,
  /** By the identity key; hashes in hexadecimal. */
  enrollment: (given: {
    readonly clusterID: string;
    readonly tokenID: string;
    readonly secretHash: string;
    readonly caHash: string;
  }): string =>
    `rear/enrollment/1\n${given.clusterID}\n${given.tokenID}\n${given.secretHash}\n${given.caHash}`,
  /** By the key of a certificate, for the identity key: who can sign it holds a certificate of that name. */
  identityKey: (clusterID: string, identityKey: string): string =>
    `rear/identity-key/1\n${clusterID}\n${identityKey}`,
} as const;
