import { BROKER_OPTIONS, CONNECTION, CORDON_OPTIONS } from "./broker-options.ts";
import { GET_OBJECTS_OPTIONS } from "./cluster-options.ts";

const WATCH = { kind: "flag", short: "w", summary: "keep running and print changes" } as const;

/** Light on purpose: every help is made from it. */
export const GET_QUEUE_OPTIONS = {
  requester: { kind: "text", value: "cluster-id", summary: "only the requests of this cluster" },
  watch: WATCH,
  ...BROKER_OPTIONS,
} as const;

export const GET_TENANTS_OPTIONS = { watch: WATCH, ...BROKER_OPTIONS } as const;

/** Of a cluster's API server, or with `--all-clusters` of the broker. */
export const GET_REQUESTS_OPTIONS = {
  "all-clusters": {
    kind: "flag",
    summary: "ask the broker instead: what all clusters wait for and hold; needs an admin's certificate",
  },
  ...GET_OBJECTS_OPTIONS,
  context: {
    kind: "text",
    value: "name",
    summary:
      "a context of the kubeconfig; with --all-clusters, of brokerctl's configuration; default: the current one",
  },
  broker: CONNECTION.broker,
  certs: CONNECTION.certs,
  config: CONNECTION.config,
  "request-timeout": CONNECTION["request-timeout"],
} as const;

export const DRAIN_OPTIONS = {
  timeout: {
    kind: "duration",
    value: "time",
    summary: "give up after this long; default: wait until nothing is left",
  },
  grace: {
    kind: "duration",
    value: "time",
    summary: "end reservations this long after their notice; default: the policy's preemption.grace (5m)",
  },
  "no-notice": { kind: "flag", summary: "only cordon and wait: nothing is ended" },
  ...CORDON_OPTIONS,
} as const;
