import {
  array,
  integer,
  line,
  matching,
  object,
  optional,
  prose,
  required,
  titled,
} from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { time } from "../schema/terms.ts";
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
