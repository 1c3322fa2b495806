import { CONNECTION } from "../connection/options.ts";
import { OUTPUT } from "../output/output-option.ts";

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
  output: OUTPUT,
  ...CONNECTION,
} as const;

export const DESCRIBE_RESERVATION_OPTIONS = { output: OUTPUT, ...CONNECTION } as const;

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
  "node-cpu": { kind: "text", value: "quantity", summary: "CPU that one single node must have free" },
  "node-memory": { kind: "text", value: "quantity", summary: "memory that one single node must have free" },
  "node-gpu": { kind: "text", value: "count", summary: "GPUs that one single node must have free" },
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
  output: OUTPUT,
  ...CONNECTION,
} as const;

export const RESERVE_OPTIONS = {
  ...REQUEST,
  for: { ...FOR, summary: "the requester; an admin must name one" },
  key: {
    kind: "text",
    value: "text",
    summary:
      "idempotency key: a repeated request with the same key returns the same reservation; default: a random key",
  },
  output: OUTPUT,
  ...CONNECTION,
} as const;

export const RENEW_OPTIONS = {
  duration: { kind: "text", value: "time", default: "1h", summary: "the new duration, counted from now" },
  output: OUTPUT,
  ...CONNECTION,
} as const;

export const RELEASE_OPTIONS = {
  for: { ...FOR, summary: "the cluster that used the key; an admin must name it" },
  key: { kind: "text", value: "text", summary: "release what was, or will be, reserved with this key" },
  output: OUTPUT,
  ...CONNECTION,
} as const;

export const WAIT_OPTIONS = {
  for: {
    kind: "text",
    value: "what",
    default: "phase=Active",
    summary: "phase=<phase>, or released, or ended (released or failed)",
  },
  timeout: { kind: "duration", value: "time", summary: "give up after this long; else 30s" },
  output: OUTPUT,
  ...CONNECTION,
} as const;
