import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { clusterId, shownClusterId } from "../schema/terms.ts";
import { EXAMPLE, identityKeySchema } from "./join.ts";
import { LIMIT } from "./protocol.ts";

/** Three parts in base64url: a compact JWS, EdDSA. */
const jws = () =>
  t.matching("^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]{86}$", "a compact JWS, signed with Ed25519", {
    maxLength: LIMIT.statementBytes,
  });

const EXAMPLE_JWS = `eyJhbGciOiJFZERTQSIsInR5cCI6InJlYXItc3RhdGVtZW50K2p3cyJ9.eyJ2ZXJzaW9uIjoxfQ.${EXAMPLE.signature}`;

export const statementRequestSchema = t.message(
  "StatementRequestDTO",
  "What this cluster states to another one, as a whole. It replaces the statement before it.",
  { statement: t.required(jws(), "Signed by the identity key of the sender.", EXAMPLE_JWS) },
);

export const peerStatementSchema = t.message("PeerStatementDTO", "What another cluster states to this one.", {
  from: t.required(shownClusterId(), "The sender, as the broker knows it; the signature counts.", "paris"),
  statement: t.required(jws(), "Signed by the identity key of the sender.", EXAMPLE_JWS),
});
export type PeerStatementDTO = Infer<typeof peerStatementSchema>;

export const peerStatementListSchema = t.titled(
  "PeerStatementListDTO",
  t.array(peerStatementSchema, LIMIT.statementsPerCluster),
  "The newest statement of each peer to this cluster.",
);

/** The `typ` in the header of a statement: a signature for another purpose is none. */
export const STATEMENT_TYPE = "rear-statement+jws";

const liqoId = () => t.matching("^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", "a Liqo cluster ID", { maxLength: 63 });
const milliseconds = () => t.integer(1, Number.MAX_SAFE_INTEGER);
/** With its padding: Liqo, in Go, cannot read objects that hold anything else, and no other object beside them. */
const base64 = (maxLength: number) => {
  const form = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$";
  return t.matching(form, "base64 with padding", { maxLength });
};

/** The sender as requester: what it wants of the receiver. */
const requesterShareSchema = t.object({
  wants: t.required(t.boolean(), "True while the sender needs the peering."),
  nonce: t.optional(base64(88), "The provider's nonce that was signed."),
  signedNonce: t.optional(base64(1024), "Liqo's signature of it."),
  publicKey: t.optional(base64(1024), "Liqo's public key of the sender, in DER."),
  csr: t.optional(base64(8192), "For Liqo's control plane identity; the same bytes every time."),
});

/** The sender as provider: what the receiver gets. */
const providerShareSchema = t.object({
  nonce: t.optional(base64(88), "64 bytes, to be signed by the receiver's Liqo."),
  state: t.required(
    t.oneOf("none", "nonce", "signed", "refused"),
    "none: no Tenant for the receiver. nonce: it must be signed. signed: identity is there. refused: see message.",
  ),
  message: t.optional(t.line(LIMIT.reasonLength), "refused: why."),
  identity: t.optional(
    t.object({
      apiServer: t.required(t.nonEmptyLine(512), "URL of the provider's API server."),
      ca: t.optional(base64(12_000), "Its certificate authority."),
      signedCRT: t.required(base64(8192), "The certificate of the receiver's Liqo."),
      proxyURL: t.optional(t.nonEmptyLine(512), "In-band only."),
      tenantNamespace: t.required(t.nonEmptyLine(63), "At the provider."),
    }),
    "signed: what the receiver's Liqo needs.",
  ),
});

/** The payload of a statement. Unknown fields are refused, not ignored. */
export const statementSchema = t.message(
  "Statement",
  "One cluster's whole share of a peering, and what it has seen.",
  {
    version: t.required(t.integer(1, 1), "Of this format."),
    kind: t.required(t.oneOf("peering"), "What it is about."),
    from: t.required(clusterId(), "The sender.", "rome"),
    to: t.required(clusterId(), "The receiver.", "paris"),
    fromLiqoID: t.required(liqoId(), "The sender's ID in Liqo."),
    toLiqoID: t.required(liqoId(), "The receiver's ID in Liqo."),
    fromKey: t.required(identityKeySchema, "The sender's identity key, which signs this."),
    toKey: t.optional(
      identityKeySchema,
      "The receiver's, as the sender has pinned it; absent at first contact.",
    ),
    generation: t.required(milliseconds(), "The larger one is newer."),
    issued: t.required(milliseconds(), "Milliseconds of the broker's time."),
    expires: t.required(milliseconds(), "After that it means nothing."),
    capability: t.required(t.integer(1, 1000), "The newest format that the sender understands."),
    certificate: t.required(
      t.prose(8192),
      "The sender's certificate in PEM with intermediates, for first contact.",
    ),
    keyProof: t.required(base64(1024), "By the certificate's key, for fromKey."),
    seen: t.optional(
      milliseconds(),
      "The newest generation of the receiver's statements that the sender has seen.",
    ),
    warm: t.optional(
      t.boolean(),
      "True: the sender's policy keeps this pair peered for a while after the last use.",
    ),
    requester: t.optional(requesterShareSchema, "The sender's share as requester."),
    provider: t.optional(providerShareSchema, "The sender's share as provider."),
  },
);
export type Statement = Infer<typeof statementSchema>;
