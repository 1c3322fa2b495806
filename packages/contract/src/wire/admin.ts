import { policySchema } from "../policy/policy-schema.ts";
import {
  array,
  boolean,
  integer,
  line,
  matching,
  object,
  oneOf,
  optional,
  prose,
  required,
  titled,
} from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { clusterId, duration, shownClusterId, time } from "../schema/terms.ts";
import { advertisementSchema } from "./advertisement.ts";
import { LIMIT } from "./protocol.ts";

const hash = () => matching("^[0-9a-f]{64}$", "a SHA-256 digest in hexadecimal", { maxLength: 64 });

export const auditEntrySchema = titled(
  "AuditEntryDTO",
  object({
    sequence: required(integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), "Place in the log.", {
      examples: [1042],
    }),
    at: required(time(), "When it was committed.", { examples: ["2026-07-01T10:00:00.123Z"] }),
    actor: required(line({ maxLength: 253 }), "Who did it: a cluster, an admin or the broker itself.", {
      examples: ["rome"],
    }),
    action: required(line({ minLength: 1, maxLength: 63 }), "What happened.", { examples: ["granted"] }),
    subject: optional(line({ maxLength: 253 }), "The reservation or cluster it happened to.", {
      examples: ["rsv-rome-k3u7dq2hvmx5b4ta"],
    }),
    message: required(prose({ maxLength: 4096 }), "The same in words, with the reason.", {
      examples: ["paris lends 4 CPU / 8Gi Memory to rome"],
    }),
    record: optional(prose({ maxLength: 262_144 }), "The entry exactly as it was hashed, as JSON text."),
    previousHash: optional(hash(), "Hash of the entry before this one. Absent: that one is no longer kept."),
    hash: required(
      hash(),
      "Hash over previousHash, sequence and record, a line each: one changed byte breaks the chain.",
    ),
  }),
  "One entry of the hash-chained audit log.",
);
export type AuditEntryDTO = Infer<typeof auditEntrySchema>;

export const auditPageSchema = titled(
  "AuditPageDTO",
  object({
    items: required(array(auditEntrySchema, { maxItems: LIMIT.pageMax }), "Entries, oldest first."),
    next: optional(
      line({ maxLength: LIMIT.afterLength }),
      "Ask for the next page with ?after=<next>. Absent: this was the last.",
      {
        examples: ["1042"],
      },
    ),
  }),
  "One page of the audit log.",
);
export type AuditPageDTO = Infer<typeof auditPageSchema>;

export const cordonRequestSchema = titled(
  "CordonRequestDTO",
  object({
    reason: optional(line({ maxLength: LIMIT.reasonLength }), "Why, in words that requesters will read.", {
      examples: ["maintenance until Friday"],
    }),
  }),
  "Keeps a cluster from lending anything new. What it lends already stays.",
);

export const cordonReplySchema = titled(
  "CordonReplyDTO",
  object({
    clusterID: required(shownClusterId(), "The cluster.", { examples: ["tokyo"] }),
    cordoned: required(boolean(), "True while it lends nothing new.", { examples: [true] }),
    reason: optional(line({ maxLength: LIMIT.reasonLength }), "Why.", {
      examples: ["maintenance until Friday"],
    }),
  }),
  "Whether a cluster may lend.",
);
export type CordonReplyDTO = Infer<typeof cordonReplySchema>;

const MAX_URL_LENGTH = 512;
const roleSchema = oneOf("viewer", "admin");

export const dashboardLinkRequestSchema = titled(
  "DashboardLinkRequestDTO",
  object({
    role: optional(roleSchema, "What the browser may do: read everything, or also act. Absent: admin.", {
      examples: ["viewer"],
    }),
  }),
  "Asks for a link that signs one browser in to the dashboard, once.",
);

export const dashboardLinkSchema = titled(
  "DashboardLinkDTO",
  object({
    url: required(
      line({ minLength: 1, maxLength: MAX_URL_LENGTH }),
      "Open it in a browser. The token stands behind `#`, so that no proxy, log or preview ever sees it.",
      { examples: ["http://127.0.0.1:8090/#token=mYq1…"] },
    ),
    role: required(roleSchema, "What the browser may do.", { examples: ["admin"] }),
    expiresAt: required(time(), "Until when it can be opened.", { examples: ["2026-07-01T10:02:00Z"] }),
  }),
  "Signs one browser in to the dashboard, once.",
);
export type DashboardLink = Infer<typeof dashboardLinkSchema>;

export const policyReplySchema = titled(
  "PolicyReplyDTO",
  object({
    version: required(line({ maxLength: 253 }), "Names the policy in force; decision records carry it.", {
      examples: ["default"],
    }),
    source: required(line({ maxLength: 1024 }), "Where it was read from.", {
      examples: ["/etc/broker/policy.yaml"],
    }),
    loadedAt: optional(time(), "When it came into force.", { examples: ["2026-07-01T10:00:00Z"] }),
    policy: required(policySchema, "The whole policy, with the defaults filled in."),
  }),
  "The policy in force.",
);
export type PolicyReplyDTO = Infer<typeof policyReplySchema>;

export const adoptionOpeningSchema = titled(
  "AdoptionOpeningDTO",
  object({
    duration: required(duration("positive"), "How long adoption stays open: at most 168h.", {
      examples: ["1h"],
    }),
  }),
  "Lets the ledger adopt holds made before now, for a while.",
);

export const adoptionWindowSchema = titled(
  "AdoptionWindowDTO",
  object({
    open: required(boolean(), "True while holds can be adopted.", { examples: [true] }),
    since: optional(time(), "Only holds made before this are adopted: the ledger's memory begins here.", {
      examples: ["2026-07-01T10:00:00.123Z"],
    }),
    until: optional(time(), "When adoption ends, or ended.", { examples: ["2026-07-02T10:00:00.123Z"] }),
    cause: optional(
      line({ minLength: 1, maxLength: 63 }),
      "created: the ledger was made empty. restored: from a backup. opened or closed: by an admin.",
      { examples: ["restored"] },
    ),
    by: optional(clusterId(), "The admin who opened or closed it.", { examples: ["ops"] }),
  }),
  "Whether the ledger adopts holds that it does not know. Without times it never did.",
);
export type AdoptionWindowDTO = Infer<typeof adoptionWindowSchema>;

export const advertisementPageSchema = titled(
  "AdvertisementPageDTO",
  object({
    items: required(
      array(advertisementSchema, { maxItems: LIMIT.pageMax }),
      "Advertisements in the order of their cluster IDs.",
    ),
    next: optional(
      line({ maxLength: LIMIT.afterLength }),
      "Ask for the next page with ?after=<next>. Absent: this was the last.",
      {
        examples: ["paris"],
      },
    ),
  }),
  "One page of advertisements.",
);
export type AdvertisementPageDTO = Infer<typeof advertisementPageSchema>;
