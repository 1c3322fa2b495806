import { policySchema } from "../policy/policy-schema.ts";
import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { clusterId, currency, duration, reservationName, shownClusterId, time } from "../schema/terms.ts";
import { advertisementSchema } from "./advertisement.ts";
import { amountsSchema } from "./amounts.ts";
import { LIMIT } from "./protocol.ts";

const hash = () => t.matching("^[0-9a-f]{64}$", "a SHA-256 digest in hexadecimal", { maxLength: 64 });

const nextField = (example: string) =>
  t.optional(
    t.line(LIMIT.afterLength),
    "Ask for the next page with ?after=<next>. Absent: this was the last.",
    example,
  );

export const auditEntrySchema = t.message("AuditEntryDTO", "One entry of the hash-chained audit log.", {
  sequence: t.required(t.integer(1, Number.MAX_SAFE_INTEGER), "Place in the log.", 1042),
  at: t.required(time(), "When it was committed.", "2026-07-01T10:00:00.123Z"),
  actor: t.required(t.line(253), "Who did it: a cluster, an admin or the broker itself.", "rome"),
  action: t.required(t.nonEmptyLine(63), "What happened.", "granted"),
  subject: t.optional(t.line(253), "The reservation or cluster it happened to.", "rsv-rome-k3u7dq2hvmx5b4ta"),
  message: t.required(
    t.prose(4096),
    "The same in words, with the reason.",
    "paris lends 4 CPU / 8Gi Memory to rome",
  ),
  record: t.optional(t.prose(262_144), "The entry exactly as it was hashed, as JSON text."),
  previousHash: t.optional(hash(), "Hash of the entry before this one. Absent: that one is no longer kept."),
  hash: t.required(
    hash(),
    "Hash over previousHash, sequence and record, a line each: one changed byte breaks the chain.",
  ),
});
export type AuditEntryDTO = Infer<typeof auditEntrySchema>;

const auditChainSchema = t.object({
  state: t.required(
    t.oneOf("whole", "checking", "broken"),
    "whole: every line fits. checking: not all lines are read yet. broken: see message.",
    "whole",
  ),
  lines: t.optional(t.count(), "whole, checking: how many lines fit.", 1042),
  at: t.optional(time(), "whole: when the check ended.", "2026-07-01T10:00:00Z"),
  message: t.optional(t.prose(4096), "broken: what does not fit, and at which line."),
});
export type AuditChainDTO = Infer<typeof auditChainSchema>;

export const auditPageSchema = t.message("AuditPageDTO", "One page of the audit log.", {
  items: t.required(
    t.array(auditEntrySchema, LIMIT.pageMax),
    "Entries, oldest first; with order=desc newest first.",
  ),
  next: nextField("1042"),
  chain: t.optional(
    auditChainSchema,
    "Whether the whole log is intact, as the broker last checked it; only with order=desc.",
  ),
});
export type AuditPageDTO = Infer<typeof auditPageSchema>;

export const cordonRequestSchema = t.message(
  "CordonRequestDTO",
  "Keeps a cluster from lending anything new. What it lends already stays.",
  {
    reason: t.optional(
      t.line(LIMIT.reasonLength),
      "Why, in words that requesters will read.",
      "maintenance until Friday",
    ),
  },
);

export const cordonReplySchema = t.message("CordonReplyDTO", "Whether a cluster may lend.", {
  clusterID: t.required(shownClusterId(), "The cluster.", "tokyo"),
  cordoned: t.required(t.boolean(), "True while it lends nothing new.", true),
  reason: t.optional(t.line(LIMIT.reasonLength), "Why.", "maintenance until Friday"),
});
export type CordonReplyDTO = Infer<typeof cordonReplySchema>;

export const drainRequestSchema = t.message(
  "DrainRequestDTO",
  "Cordons a cluster, and gives notice to what it lends: each reservation ends when its notice is over.",
  {
    reason: t.optional(
      t.line(LIMIT.reasonLength),
      "Why, in words that requesters will read.",
      "maintenance until Friday",
    ),
    grace: t.optional(
      duration("positive"),
      "Time between the notice and the end, at most 168h. Absent: the policy's preemption.grace.",
      "30m",
    ),
  },
);

const reservationNames = () => t.array(reservationName(), LIMIT.instructions);

export const drainReplySchema = t.message(
  "DrainReplyDTO",
  "A cluster that lends nothing new, and who was told.",
  {
    clusterID: t.required(shownClusterId(), "The cluster.", "tokyo"),
    cordoned: t.required(t.boolean(), "True.", true),
    reason: t.optional(t.line(LIMIT.reasonLength), "Why.", "maintenance until Friday"),
    noticed: t.required(
      reservationNames(),
      "What it lends and is under notice. A notice of an earlier drain keeps its end.",
    ),
    untold: t.required(
      reservationNames(),
      "What it lends to clusters whose agents know of no notices: it ends by itself, or when it is released.",
    ),
  },
);
export type DrainReplyDTO = Infer<typeof drainReplySchema>;

const MAX_URL_LENGTH = 512;
const roleSchema = t.oneOf("viewer", "admin");

export const dashboardLinkRequestSchema = t.message(
  "DashboardLinkRequestDTO",
  "Asks for a link that signs one browser in to the dashboard, once.",
  {
    role: t.optional(
      roleSchema,
      "What the browser may do: read everything, or also act. Absent: admin.",
      "viewer",
    ),
  },
);

export const dashboardLinkSchema = t.message(
  "DashboardLinkDTO",
  "Signs one browser in to the dashboard, once.",
  {
    url: t.required(
      t.nonEmptyLine(MAX_URL_LENGTH),
      "Open it in a browser. The token stands behind `#`, so that no proxy, log or preview ever sees it.",
      "http://127.0.0.1:8090/#token=mYq1…",
    ),
    role: t.required(roleSchema, "What the browser may do.", "admin"),
    expiresAt: t.required(time(), "Until when it can be opened.", "2026-07-01T10:02:00Z"),
  },
);
export type DashboardLink = Infer<typeof dashboardLinkSchema>;

export const policyReplySchema = t.message("PolicyReplyDTO", "The policy in force.", {
  version: t.required(t.line(253), "Names the policy in force; decision records carry it.", "default"),
  source: t.required(t.line(1024), "Where it was read from.", "/etc/broker/policy.yaml"),
  loadedAt: t.optional(time(), "When it came into force.", "2026-07-01T10:00:00Z"),
  policy: t.required(policySchema, "The whole policy, with the defaults filled in."),
});
export type PolicyReplyDTO = Infer<typeof policyReplySchema>;

export const adoptionOpeningSchema = t.message(
  "AdoptionOpeningDTO",
  "Lets the ledger adopt holds made before now, for a while.",
  {
    duration: t.required(duration("positive"), "How long adoption stays open: at most 168h.", "1h"),
  },
);

export const adoptionWindowSchema = t.message(
  "AdoptionWindowDTO",
  "Whether the ledger adopts holds that it does not know. Without times it never did.",
  {
    open: t.required(t.boolean(), "True while holds can be adopted.", true),
    since: t.optional(
      time(),
      "Only holds made before this are adopted: the ledger's memory begins here.",
      "2026-07-01T10:00:00.123Z",
    ),
    until: t.optional(time(), "When adoption ends, or ended.", "2026-07-02T10:00:00.123Z"),
    cause: t.optional(
      t.nonEmptyLine(63),
      "created: the ledger was made empty. restored: from a backup. opened or closed: by an admin.",
      "restored",
    ),
    by: t.optional(clusterId(), "The admin who opened or closed it.", "ops"),
  },
);
export type AdoptionWindowDTO = Infer<typeof adoptionWindowSchema>;

const COUNT = t.count();

const fleetTotalsSchema = t.object({
  ready: t.required(COUNT, "Clusters that can get reservations.", 1),
  allocatable: t.required(amountsSchema, "What their nodes can give to pods. Stale clusters are left out."),
  allocated: t.required(amountsSchema, "What their own pods request."),
  reserved: t.required(amountsSchema, "What they lend."),
  available: t.required(amountsSchema, "What they can still lend."),
  live: t.required(COUNT, "Reservations that they provide.", 2),
  perHour: t.required(t.number(0, 1e15), "What these cost in one hour.", 0.42),
  currency: t.required(currency(), "The policy's currency.", "EUR"),
});

export const advertisementPageSchema = t.message("AdvertisementPageDTO", "One page of advertisements.", {
  items: t.required(
    t.array(advertisementSchema, LIMIT.pageMax),
    "Advertisements in the order of their cluster IDs.",
  ),
  next: nextField("paris"),
  total: t.optional(COUNT, "How many match, on all pages; only of lists with sort, q, state or offset.", 1),
  totals: t.optional(
    fleetTotalsSchema,
    "Of all that match, on all pages; only of lists with sort, q, state or offset.",
  ),
});
export type AdvertisementPageDTO = Infer<typeof advertisementPageSchema>;
