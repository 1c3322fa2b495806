import { OUTPUT } from "../cli/command.ts";
import { BROKER_OPTIONS, CONNECTION } from "./broker-options.ts";
import { CLUSTER } from "./cluster-options.ts";

/** Light on purpose: every help is made from it. */
export const INVITE_OPTIONS = {
  replace: { kind: "flag", summary: "the ID is known: evict the agent that has it, and invite another" },
  yes: { kind: "flag", summary: "with --replace: do not ask" },
  confirm: {
    kind: "flag",
    summary: "the agent gets its certificate only after brokerctl accept with its fingerprint",
  },
  lifetime: {
    kind: "duration",
    value: "time",
    summary: "how long the token can be used, at most 168h; else 1h",
  },
  "broker-url": {
    kind: "list",
    value: "url",
    summary: "where agents reach the broker, if not where you do; may be repeated",
  },
  namespace: {
    kind: "text",
    short: "n",
    value: "name",
    default: "rear-agent",
    summary: "the agent's namespace, for the Secret",
  },
  output: {
    kind: "choice",
    short: "o",
    value: "format",
    choices: ["secret", "json", "token"],
    default: "secret",
    summary: "how to print the invitation",
  },
  ...CONNECTION,
} as const;

export const JOIN_OPTIONS = {
  file: {
    kind: "text",
    short: "f",
    value: "file",
    summary: "the invitation, as brokerctl invite prints it; - or nothing: standard input",
  },
  namespace: {
    kind: "text",
    short: "n",
    value: "name",
    summary: "where the agent is installed; else the invitation's, rear-agent",
  },
  image: {
    kind: "text",
    value: "repository:tag",
    summary: "the agent's image, also repository@sha256:…; else the chart's own",
  },
  set: {
    kind: "list",
    value: "key=value",
    summary: "a value of the agent's chart, as helm --set takes it; may be repeated",
  },
  yes: { kind: "flag", summary: "do not ask" },
  timeout: { kind: "duration", value: "time", summary: "give up after this long; else 5m" },
  ...CLUSTER,
} as const;

export const ACCEPT_OPTIONS = {
  fingerprint: {
    kind: "text",
    value: "SHA256:…",
    summary: "the agent's identity key, as its own log shows it; must be given",
  },
  ...BROKER_OPTIONS,
} as const;

export const EVICT_OPTIONS = {
  reason: { kind: "text", value: "text", summary: "the reason, for the audit log" },
  yes: { kind: "flag", summary: "do not ask" },
  ...BROKER_OPTIONS,
} as const;

export const GET_MEMBERS_OPTIONS = {
  watch: { kind: "flag", short: "w", summary: "keep running and print changes" },
  output: OUTPUT,
  ...CONNECTION,
} as const;
