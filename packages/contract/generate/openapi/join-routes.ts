import {
  acceptanceSchema,
  certificateReplySchema,
  certificateRequestSchema,
  enrollmentSchema,
  evictionSchema,
  invitationRequestSchema,
  memberListSchema,
  memberSchema,
  trustSchema,
} from "../../src/wire/join.ts";
import { peerStatementListSchema, statementRequestSchema } from "../../src/wire/statement.ts";
import { created, ok, type Route } from "./route.ts";

const WITH_BODY = ["malformed", "invalid", "too-large", "unsupported-media"] as const;
/** Faults of calls without a certificate. */
const ANONYMOUS = ["rate-limited", "not-leader", "overloaded", "store-unavailable"] as const;

const PEM = "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n";
const fingerprint = `SHA256:${"uV7c".repeat(10)}abc`;
const keys = {
  identityKey: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
  publicKey: "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE",
  keySignature: `${"b3Y2".repeat(21)}Aw`,
};
const jws = `eyJhbGciOiJFZERTQSJ9.eyJ2ZXJzaW9uIjoxfQ.${"b3Y2".repeat(21)}Aw`;
const member = {
  clusterID: "rome",
  state: "joined",
  fingerprint,
  tokenID: "k3u7dq2hvm",
  invitedBy: "ops",
  expiresAt: "2026-07-01T11:00:00Z",
  since: "2026-07-01T10:00:00Z",
} as const;

const certificateReplies = {
  reply: ok("Signed.", {
    schema: certificateReplySchema,
    example: { state: "issued", certificate: PEM, authorities: PEM, notAfter: "2026-07-31T10:00:00Z" },
  }),
  otherReplies: [
    {
      status: 202,
      description: "Not yet: ask again with the same keys.",
      body: {
        schema: certificateReplySchema,
        example: {
          state: "waiting",
          message: "the certificate is being signed; ask again with the same keys",
        },
      },
    },
  ],
} as const;

/** How agents join, who may, and what they state to each other. */
export const JOIN_ROUTES: readonly Route[] = [
  {
    call: "GET /api/v1/trust",
    operationId: "getTrust",
    tag: "Joining",
    summary: "The authorities of this broker",
    description:
      "For everyone, on the API port. Nothing here is proven: take only an authority whose key has the hash that came with the invitation, and connect again with it.",
    reply: ok("The authorities.", {
      schema: trustSchema,
      example: { authorities: PEM, signer: "embedded" },
    }),
    faults: ANONYMOUS,
    isPublic: true,
  },
  {
    call: "POST /api/v1/enroll",
    operationId: "enroll",
    tag: "Joining",
    summary: "Use an invitation",
    description:
      "For everyone who has a token, on the API port. The first use binds the token to the identity key before anything is signed; the same key may repeat the call until the token expires. The certificate names the cluster of the invitation and nothing else.",
    body: {
      schema: enrollmentSchema,
      example: {
        clusterID: "rome",
        tokenID: "k3u7dq2hvm",
        secret: keys.identityKey,
        ...keys,
        tokenSignature: keys.keySignature,
      },
    },
    ...certificateReplies,
    faults: [...WITH_BODY, ...ANONYMOUS, "no-certificate", "wrong-instance", "not-found"],
    isPublic: true,
  },
  {
    call: "POST /api/v1/certificates",
    operationId: "renewCertificate",
    tag: "Joining",
    summary: "Get the next certificate",
    description: "For a cluster whose identity key is bound. The new key must be vouched for by that key.",
    body: { schema: certificateRequestSchema, example: keys },
    ...certificateReplies,
    faults: [...WITH_BODY, "not-found"],
  },
  {
    call: "POST /api/v1/invitations",
    operationId: "invite",
    tag: "Joining",
    summary: "Invite a cluster",
    description:
      "For admins, who make the token themselves: only the hash of its secret is sent. A known ID is refused unless it is replaced. The same token again: the same invitation.",
    body: {
      schema: invitationRequestSchema,
      example: { clusterID: "rome", tokenID: "k3u7dq2hvm", secretHash: "5f".repeat(32), lifetime: "1h" },
    },
    reply: created("Invited.", { schema: memberSchema, example: { ...member, state: "invited" } }),
    faults: [...WITH_BODY, "not-found", "ledger-conflict", "quota-exceeded"],
  },
  {
    call: "GET /api/v1/members",
    operationId: "listMembers",
    tag: "Joining",
    summary: "List members",
    description: "For admins. Invited, joined and evicted clusters, and those whose identity key is bound.",
    reply: ok("All of them.", { schema: memberListSchema, example: [member] }),
  },
  {
    call: "POST /api/v1/members/{clusterID}/accept",
    operationId: "acceptMember",
    tag: "Joining",
    summary: "Accept the identity key of an agent that waits",
    description: "For admins, who compare the fingerprint with the agent's own log.",
    parameters: ["clusterID"],
    body: { schema: acceptanceSchema, example: { fingerprint } },
    reply: ok("Accepted.", { schema: memberSchema, example: member }),
    faults: [...WITH_BODY, "not-found"],
  },
  {
    call: "POST /api/v1/members/{clusterID}/evict",
    operationId: "evictMember",
    tag: "Joining",
    summary: "End the membership of a cluster",
    description:
      "For admins. Its connections are closed and every later call is refused, whatever its certificate says, until it is invited again.",
    parameters: ["clusterID"],
    body: { schema: evictionSchema, example: { reason: "its machines were sold" } },
    isBodyOptional: true,
    reply: ok("Evicted.", { schema: memberSchema, example: { ...member, state: "evicted" } }),
    faults: ["malformed", "invalid", "not-found", "quota-exceeded"],
  },
  {
    call: "PUT /api/v1/peers/{clusterID}/statement",
    operationId: "putStatement",
    tag: "Peering",
    summary: "State something to another cluster",
    description:
      "For a cluster whose identity key is bound: a Statement as a JWS of that key. Allowed while the two share a reservation, for an hour after it, and for warm pairs, which is passed on only if both say so. It replaces the one before; a generation that is not larger is refused. Kept in memory only: state it again after a restart of the broker.",
    parameters: ["clusterID"],
    body: { schema: statementRequestSchema, example: { statement: jws } },
    reply: { status: 204, description: "Kept, and passed on if it may be." },
    faults: [...WITH_BODY, "ledger-conflict", "quota-exceeded"],
  },
  {
    call: "GET /api/v1/peers",
    operationId: "listStatements",
    tag: "Peering",
    summary: "What other clusters state to yours",
    description: "The newest of each. The stream of instructions sends them as `statement` events.",
    reply: ok("The newest statements.", {
      schema: peerStatementListSchema,
      example: [{ from: "paris", statement: jws }],
    }),
  },
];
