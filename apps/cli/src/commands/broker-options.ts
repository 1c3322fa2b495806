import { OUTPUT } from "../cli/command.ts";
import { CLUSTER, KUBE_CONTEXT, NAMESPACE } from "./cluster-options.ts";
import { STORE } from "./local-options.ts";

/** How the broker is reached; the same on every command that talks to it. Light on purpose: every help is made from it. */
export const CONNECTION = {
  broker: {
    kind: "text",
    value: "url",
    env: "BROKERCTL_BROKER",
    summary:
      "where the broker listens, replicas with commas between them; else the context's, else localhost",
  },
  certs: {
    kind: "text",
    value: "folder",
    env: "BROKERCTL_CERTS",
    summary: "your tls.crt and tls.key and the broker's ca.crt; else the context's",
  },
  context: {
    kind: "text",
    value: "name",
    summary: "a context of the configuration file; default: its current-context",
  },
  config: {
    kind: "text",
    value: "file",
    env: "BROKERCTL_CONFIG",
    summary: "the configuration file; default: ~/.config/brokerctl/config.yaml",
  },
  "request-timeout": {
    kind: "duration",
    value: "time",
    summary: "how long to wait for one answer; default: 30s",
  },
} as const;

/** Of a command that asks the broker one thing and prints the answer. */
export const BROKER_OPTIONS = { output: OUTPUT, ...CONNECTION } as const;

export const GET_CLUSTERS_OPTIONS = {
  selector: {
    kind: "list",
    short: "l",
    value: "key=value",
    summary: "only clusters that advertise these labels",
  },
  watch: { kind: "flag", short: "w", summary: "keep running and print changes" },
  ...BROKER_OPTIONS,
} as const;

export const CORDON_OPTIONS = {
  reason: { kind: "text", value: "text", summary: "the reason, shown to requesters" },
  ...BROKER_OPTIONS,
} as const;

export const GET_RESERVATIONS_OPTIONS = {
  requester: { kind: "text", value: "cluster-id", summary: "only what this cluster borrows" },
  provider: { kind: "text", value: "cluster-id", summary: "only what this cluster lends" },
  phase: {
    kind: "choice",
    value: "phase",
    choices: ["Reserved", "Active", "Released", "Failed"],
    summary: "only those in this phase",
  },
  all: { kind: "flag", summary: "also those that have ended; they are kept for a day" },
  watch: { kind: "flag", short: "w", summary: "keep running and print changes" },
  ...BROKER_OPTIONS,
} as const;

/** What is asked for: the same for a quote and for the real thing. */
export const REQUEST = {
  cpu: { kind: "text", value: "quantity", summary: "CPU, for example 500m or 2" },
  memory: { kind: "text", value: "quantity", summary: "memory, for example 512Mi or 8Gi" },
  gpu: { kind: "text", value: "count", summary: "GPUs, whole ones" },
  storage: { kind: "text", value: "quantity", summary: "ephemeral storage, for example 20Gi" },
  resource: {
    kind: "list",
    value: "name=count",
    summary: "another extended resource, for example amd.com/gpu=1; may be repeated",
  },
  duration: {
    kind: "text",
    value: "time",
    summary: "how long, for example 1h30m; without it, until released",
  },
  target: { kind: "text", value: "cluster-id", summary: "only this cluster" },
  region: { kind: "list", value: "name", summary: "only clusters in one of these regions" },
  selector: {
    kind: "list",
    short: "l",
    value: "key=value",
    summary: "only clusters that advertise these labels",
  },
  exclude: { kind: "list", value: "cluster-id", summary: "never these clusters" },
  "node-cpu": { kind: "text", value: "quantity", summary: "CPU that a single node must have, allocatable" },
  "node-memory": {
    kind: "text",
    value: "quantity",
    summary: "memory that a single node must have, allocatable",
  },
  "node-gpu": { kind: "text", value: "count", summary: "GPUs that a single node must have, allocatable" },
  tier: {
    kind: "choice",
    value: "tier",
    choices: ["on-demand", "spot"],
    summary: "the price tier",
  },
} as const;

const FOR = { kind: "text", value: "cluster-id" } as const;

export const QUOTE_OPTIONS = {
  ...REQUEST,
  for: { ...FOR, summary: "the requester; only an admin may name another cluster than its own" },
  ...BROKER_OPTIONS,
} as const;

export const RESERVE_OPTIONS = {
  ...REQUEST,
  wait: {
    kind: "text",
    value: "time",
    summary: "if no cluster has room, wait in the queue at most this long, for example 4h",
  },
  "no-follow": {
    kind: "flag",
    summary: "with --wait: print the request that waits, and end at once",
  },
  priority: {
    kind: "text",
    value: "number",
    summary:
      "of those that wait, the highest goes first; default: 0. The policy says how much a tenant may ask with",
  },
  resumes: {
    kind: "text",
    value: "reservation-id",
    summary:
      "with --wait: in the place in the queue of this reservation, which was preempted within the hour",
  },
  namespace: {
    kind: "text",
    short: "n",
    value: "name",
    summary: "the request's namespace in its cluster: the policy may give it to a tenant",
  },
  for: { ...FOR, summary: "the requester; an admin must name one" },
  key: {
    kind: "text",
    value: "text",
    summary:
      "idempotency key: a repeated request with the same key returns the same reservation; default: a random key",
  },
  ...BROKER_OPTIONS,
} as const;

export const RENEW_OPTIONS = {
  duration: { kind: "text", value: "time", default: "1h", summary: "the new duration, counted from now" },
  ...BROKER_OPTIONS,
} as const;

export const RELEASE_OPTIONS = {
  for: { ...FOR, summary: "the cluster that used the key; an admin must name it" },
  key: { kind: "text", value: "text", summary: "release what was, or will be, reserved with this key" },
  ...BROKER_OPTIONS,
} as const;

export const WAIT_OPTIONS = {
  for: {
    kind: "text",
    value: "what",
    default: "phase=Active",
    summary: "phase=<phase>, or released, or ended (released or failed)",
  },
  timeout: { kind: "duration", value: "time", summary: "give up after this long; else 30s" },
  ...BROKER_OPTIONS,
} as const;

export const EXPLAIN_OPTIONS = {
  ...BROKER_OPTIONS,
  namespace: { ...NAMESPACE, summary: "of a request: its namespace; without it, that of your kubeconfig" },
  kubeconfig: CLUSTER.kubeconfig,
  "kube-context": KUBE_CONTEXT,
} as const;

export const DASHBOARD_OPTIONS = {
  viewer: { kind: "flag", summary: "the browser may look at everything and change nothing" },
  open: { kind: "flag", summary: "open the link in this machine's browser" },
  ...BROKER_OPTIONS,
} as const;

export const OPEN_ADOPTION_OPTIONS = {
  for: { kind: "text", value: "time", default: "1h", summary: "how long it stays open, at most 168h" },
  ...BROKER_OPTIONS,
} as const;

export const AUDIT_OPTIONS = {
  tail: { kind: "count", value: "lines", default: 50, max: 1_000_000, summary: "how many of the last lines" },
  all: { kind: "flag", summary: "every line that is still kept" },
  follow: { kind: "flag", short: "f", summary: "keep running and print new lines" },
  verify: { kind: "flag", summary: "compute the hash chain of every line again instead of showing them" },
  ...BROKER_OPTIONS,
  store: { ...STORE, summary: "with the word verify: the ledger whose files are checked" },
} as const;

export const CHECK_OPTIONS = {
  only: {
    kind: "choice",
    value: "part",
    choices: ["broker", "cluster"],
    summary: "check only what is between here and the broker, or only the cluster of your kubeconfig",
  },
  agent: {
    kind: "flag",
    summary: "the kubeconfig is an agent's: check the rights that an agent needs instead of a person's",
  },
  namespace: NAMESPACE,
  kubeconfig: CLUSTER.kubeconfig,
  "kube-context": KUBE_CONTEXT,
  output: OUTPUT,
  ...CONNECTION,
} as const;
