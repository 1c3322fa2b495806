import {
  adoptionWindowSchema,
  advertisementSchema,
  auditPageSchema,
  cordonReplySchema,
  dashboardLinkSchema,
  decisionSchema,
  memberSchema,
  quoteSchema,
  reservationSchema,
  tenantSchema,
  waitingRequestSchema,
} from "@resource-broker/contract";
import {
  advertisementKind,
  providerInstructionKind,
  reservationInstructionKind,
  resourceRequestKind,
} from "@resource-broker/contract/crd";
import { CERTIFICATE, CRL, SIGNED } from "./certificate-schemas.ts";
import {
  choice,
  count,
  flag,
  type JsonSchema,
  kubernetesObject,
  listOf,
  oneOf,
  plain,
  shape,
  text,
  textOrNull,
  texts,
} from "./json-schema.ts";

const ADVERTISEMENT = plain(advertisementSchema);
const RESERVATION = plain(reservationSchema);
const WAITING = plain(waitingRequestSchema);
const RESERVATION_OR_WAITING = oneOf(RESERVATION, WAITING);
const DECISION = plain(decisionSchema);
const MEMBER = plain(memberSchema);
const REQUEST = kubernetesObject(resourceRequestKind);
const RESERVATION_INSTRUCTION = kubernetesObject(reservationInstructionKind);
const PROVIDER_INSTRUCTION = kubernetesObject(providerInstructionKind);
const AUDIT_ENTRY = plain(auditPageSchema.properties?.["items"]?.items ?? auditPageSchema);
const EVENT: JsonSchema = {
  type: "object",
  description: "A Kubernetes Event.",
  required: ["involvedObject"],
};

const VERIFICATION = shape("What a thorough check of a ledger's files found.", {
  file: text("The ledger's file."),
  problems: texts("What is wrong, in words; empty for a sound ledger."),
  "found?": shape("What is in it. Absent: it could not be read that far.", {
    ledgerId: text("The ledger's ID."),
    commitNumber: count("How many commits it has seen."),
    reservations: count("How many reservations are in it."),
    decisions: count("How many decisions are in it."),
    auditLines: count("How many lines its audit log has."),
    firstAuditLine: count("The first of them; older ones were trimmed."),
    lastAuditHash: text("Write it down elsewhere: it proves the log up to there."),
  }),
});

const CHAIN = shape("How far the audit log is sound.", {
  lines: count("How many lines were checked."),
  "first?": count("The first of them. Absent: there was none."),
  "last?": shape("The last of them.", { sequence: count("Its number."), hash: text("Its hash.") }),
  "problem?": text("What is wrong with the first line that does not fit."),
});

const ISSUED = shape("Access that was given.", {
  clusterID: text("The cluster."),
  namespace: text("The broker's namespace."),
  user: text("The user name of the agent there."),
  server: text("Where the API server is reached."),
  expiresAt: textOrNull("When the token ends; null: never."),
  "file?": text("Where the kubeconfig was written."),
  "kubeconfig?": text("The kubeconfig itself, when no file was named."),
  warnings: texts("What is not as it should be."),
});

const WITHDRAWN = shape("Access that was taken away.", {
  clusterID: text("The cluster."),
  namespace: text("The broker's namespace."),
  removed: texts("Kind/name of each object that is gone."),
});

const FINDING = shape("One check.", {
  name: text("What was checked."),
  status: choice("Only failed makes the exit status 1.", "ok", "warning", "failed", "skipped"),
  message: text("What was found."),
  "remedy?": text("What to do about it."),
});

const CLEARED = shape("A Reservation with the broker's finalizer.", {
  namespace: text("Where it is."),
  name: text("Its name."),
  requesterID: textOrNull("The cluster that borrows."),
  targetClusterID: textOrNull("The cluster that lends."),
  phase: textOrNull("Its phase."),
  deleting: flag("True: somebody has deleted it, and only the finalizer keeps it."),
  cleared: flag("True: the finalizer is off."),
});

const CERTIFICATES = listOf(CERTIFICATE, "Certificates.");

/** What each command prints with `-o json` (and, as YAML, with `-o yaml`). Fields may be added, never renamed. */
export const OUTPUT_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  "get clusters": listOf(ADVERTISEMENT, "The clusters that have advertised."),
  "get members": listOf(MEMBER, "Clusters that have joined, are invited or were evicted."),
  "get invitations": listOf(MEMBER, "Clusters whose invitation is open or has expired."),
  "get reservations": listOf(
    RESERVATION_OR_WAITING,
    "Reservations; of one that is named by its ID also the request that waits.",
  ),
  "get queue": listOf(WAITING, "Requests that wait, in the order of the queue."),
  "get tenants": listOf(plain(tenantSchema), "Tenants, and clusters without one."),
  "get requests": listOf(
    oneOf(REQUEST, RESERVATION, WAITING),
    "ResourceRequests of one cluster; with --all-clusters what waits and what is reserved.",
  ),
  "get advertisements": listOf(kubernetesObject(advertisementKind), "Advertisements of one cluster."),
  "get instructions": listOf(
    oneOf(RESERVATION_INSTRUCTION, PROVIDER_INSTRUCTION),
    "Instructions of one cluster, of both kinds.",
  ),
  "describe cluster": shape("A cluster and its live reservations.", {
    advertisement: ADVERTISEMENT,
    status: choice("Whether it may lend.", "Ready", "Full", "Overcommitted", "Stale", "Cordoned", "Unknown"),
    lends: listOf(RESERVATION, "Live reservations that it provides."),
    borrows: listOf(RESERVATION, "Live reservations that it asked for."),
  }),
  "describe reservation": oneOf(
    shape("A reservation and why it is as it is.", { reservation: RESERVATION, "decision?": DECISION }),
    shape("A request that waits, or has left the queue, and what would be decided now.", {
      waiting: WAITING,
      "decision?": DECISION,
    }),
  ),
  "describe request": shape("A request with its instruction and events.", {
    request: REQUEST,
    "instruction?": RESERVATION_INSTRUCTION,
    events: listOf(EVENT, "Oldest first."),
  }),
  explain: oneOf(DECISION, WAITING),
  quote: plain(quoteSchema),
  replay: shape("A decision's winner, computed again.", {
    decisionID: text("The decision."),
    recorded: text("The winner in its record."),
    computed: text("The winner by its numbers."),
    same: flag("True: they agree."),
    tie: flag("True: both have the same score; the one with the lower reserved share won."),
  }),
  reserve: RESERVATION_OR_WAITING,
  renew: RESERVATION,
  release: RESERVATION_OR_WAITING,
  wait: RESERVATION_OR_WAITING,
  cordon: plain(cordonReplySchema),
  uncordon: plain(cordonReplySchema),
  drain: shape("A cluster that is being drained.", {
    clusterID: text("The cluster."),
    cordoned: flag("True: it lends nothing new."),
    drained: flag("True: nothing that it lends is left."),
    reservations: listOf(RESERVATION, "What it still lends."),
  }),
  invite: shape(
    "An invitation. Keep it secret. Only -o json prints this; -o secret prints a Secret manifest.",
    {
      clusterID: text("The cluster."),
      tokenID: text("The part of the token that is no secret."),
      token: text("The whole token."),
      expiresAt: textOrNull("When it can be used no more (RFC 3339)."),
      brokerURLs: texts("Where agents reach the broker."),
      caHashes: texts("SHA-256 of the keys of its authorities (SubjectPublicKeyInfo), in hexadecimal."),
    },
  ),
  accept: MEMBER,
  evict: MEMBER,
  "adoption show": plain(adoptionWindowSchema),
  "adoption open": plain(adoptionWindowSchema),
  "adoption close": plain(adoptionWindowSchema),
  dashboard: plain(dashboardLinkSchema),
  "certs init": CERTIFICATES,
  "certs issue": CERTIFICATES,
  "certs sign": CERTIFICATES,
  "certs renew": CERTIFICATES,
  "certs revoke": listOf(SIGNED, "What was revoked."),
  "certs show": oneOf(CERTIFICATES, CRL),
  "kubeconfig issue": oneOf(ISSUED, WITHDRAWN),
  audit: oneOf(listOf(AUDIT_ENTRY, "Lines of the audit log, oldest first."), CHAIN, VERIFICATION),
  backup: shape("The copy.", { file: text("Where it is.") }),
  restore: VERIFICATION,
  check: listOf(FINDING, "Every check, in the order in which things are needed."),
  "finalizers clear": listOf(CLEARED, "The Reservations."),
  version: shape("Versions.", { version: text("Of brokerctl."), node: text("Of the Node it runs on.") }),
};

/** Commands that print the same share one file, named after the first of them: `get clusters` → `get-clusters.schema.json`. */
export function schemaFileOf(path: string): string {
  const [first = path] = commandsWithSchemaOf(path);
  return `${first.replaceAll(" ", "-")}.schema.json`;
}

/** In the order of the table. */
export function commandsWithSchemaOf(path: string): string[] {
  const same = JSON.stringify(OUTPUT_SCHEMAS[path]);
  return Object.keys(OUTPUT_SCHEMAS).filter((other) => JSON.stringify(OUTPUT_SCHEMAS[other]) === same);
}
