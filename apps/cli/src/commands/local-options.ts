import { OUTPUT } from "../cli/command.ts";

export const STORE = {
  kind: "text",
  summary: "where the broker keeps its ledger, as in its own --store",
  value: "sqlite:<folder>",
  env: "BROKER_STORE",
  default: "sqlite:/var/lib/broker",
} as const;

export const BACKUP_OPTIONS = { store: STORE, output: OUTPUT } as const;

export const RESTORE_OPTIONS = {
  store: STORE,
  force: {
    kind: "flag",
    summary: "replace the ledger that is there; it is kept beside as ledger.db.replaced",
  },
  "new-id": {
    kind: "flag",
    summary: "give it a new Ledger-ID: agents treat it as an empty ledger and report all their reservations",
  },
  output: OUTPUT,
} as const;

export const DEFAULT_DIR = "certs";

/** Kept small on purpose: the help loads it, so it must not import the signing code. */
const DIR = {
  kind: "text",
  value: "folder",
  default: DEFAULT_DIR,
  env: "BROKERCTL_CERTS_DIR",
  summary: "the folder of the certificates",
} as const;

const MAX_DAYS = 36_500;

const LEAF_DAYS = {
  kind: "count",
  value: "days",
  default: 365,
  max: MAX_DAYS,
  summary: "how long the certificate is valid, at most as long as the authority",
} as const;

export const CERTS_INIT_OPTIONS = {
  host: {
    kind: "list",
    value: "name",
    defaultText: "localhost,127.0.0.1,::1",
    summary: "DNS name or IP address under which agents reach the broker; may be repeated",
  },
  days: LEAF_DAYS,
  "ca-days": {
    kind: "count",
    value: "days",
    default: 3650,
    max: MAX_DAYS,
    summary: "how long the authority is valid",
  },
  upgrade: {
    kind: "flag",
    summary:
      "in a folder of an earlier version: make the admin authority and the enrollment folder as well; admins need new certificates",
  },
  force: {
    kind: "flag",
    summary: "start over with a new authority; the old one is moved aside, its certificates stop working",
  },
  dir: DIR,
  output: OUTPUT,
} as const;

export const CERTS_ISSUE_OPTIONS = {
  admin: {
    kind: "flag",
    summary: "make it an admin's certificate (OU=broker-admin): it may see and change everything",
  },
  days: LEAF_DAYS,
  force: { kind: "flag", summary: "replace a key and certificate that are there already" },
  dir: DIR,
  output: OUTPUT,
} as const;

export const CERTS_SIGN_OPTIONS = {
  csr: {
    kind: "text",
    value: "file",
    summary: "the request in PEM, for exactly CN=<cluster ID>; must be given",
  },
  days: LEAF_DAYS,
  force: { kind: "flag", summary: "replace a key and certificate that are there already" },
  dir: DIR,
  output: OUTPUT,
} as const;

export const CERTS_RENEW_OPTIONS = {
  all: { kind: "flag", summary: "the broker's certificate and those of all clusters" },
  ca: {
    kind: "flag",
    summary:
      "the authorities' own certificates; their keys do not change, so all other certificates stay valid",
  },
  enrollment: {
    kind: "flag",
    summary: "the authority with which a broker signs the certificates of clusters that join",
  },
  within: {
    kind: "duration",
    value: "time",
    summary: "only those that expire within this time, for example 30d",
  },
  "keep-key": { kind: "flag", summary: "keep the private key; without it a new one is made" },
  host: {
    kind: "list",
    value: "name",
    summary: "new names for the broker's certificate; without it the old ones stay",
  },
  days: {
    kind: "count",
    value: "days",
    max: MAX_DAYS,
    summary: "how long the new certificate is valid; without it as long as the old one was",
  },
  dir: DIR,
  output: OUTPUT,
} as const;

export const CERTS_REVOKE_OPTIONS = {
  reason: {
    kind: "choice",
    value: "why",
    choices: [
      "unspecified",
      "keyCompromise",
      "affiliationChanged",
      "superseded",
      "cessationOfOperation",
      "privilegeWithdrawn",
    ],
    default: "unspecified",
    summary: "what the revocation list says",
  },
  dir: DIR,
  output: OUTPUT,
} as const;

export const CERTS_SHOW_OPTIONS = { dir: DIR, output: OUTPUT } as const;
