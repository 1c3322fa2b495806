import { duration, list, type Setting, toggle, type Values } from "@resource-broker/base";
import type { ClientHints } from "@resource-broker/client";
import { PROGRAM_SETTINGS, probeSettings } from "@resource-broker/runtime";
import { DATA_PLANE_SETTINGS } from "../data-plane/settings.ts";
import { PRICE_SETTINGS } from "../price/price-settings.ts";
import {
  clusterIdProblem,
  displayNameProblem,
  endpointProblem,
  namespaceProblem,
  objectNameProblem,
  readClusterLabel,
  readExtendedResource,
  readToleratedTaint,
  secretProblem,
  word,
  words,
} from "./forms.ts";

const BROKER_TRANSPORTS = ["http", "kubernetes", "none"] as const;
type BrokerTransport = "" | (typeof BROKER_TRANSPORTS)[number];

const brokerTransport: Setting<BrokerTransport> = {
  kind: "choice",
  description:
    "How the broker is reached: http, kubernetes (objects in the broker's cluster), or none (only the Advertisement is filled). Empty: kubernetes with --broker-kubeconfig alone, else http.",
  placeholder: BROKER_TRANSPORTS.join("|"),
  defaultText: "",
  defaultValue: "",
  read: (given) => {
    const value = given === "" ? given : BROKER_TRANSPORTS.find((known) => known === given);
    if (value !== undefined) return { ok: true, value };
    return { ok: false, problem: `${JSON.stringify(given)} is not one of ${BROKER_TRANSPORTS.join(", ")}` };
  },
};

const BROKER_SETTINGS = {
  "broker-transport": brokerTransport,
  "broker-url": list({
    description: "Address of the broker; several with commas between them, the first that serves is used.",
    defaultValue: [],
    placeholder: "https://HOST:PORT",
  }),
  "broker-cert-path": word(
    "DIR",
    "Folder with tls.crt, tls.key and ca.crt for the broker; read again when it changes.",
  ),
  "identity-secret": word(
    "[NAMESPACE/]NAME",
    "Secret of this agent, which must exist: its identity key and, without --broker-cert-path, its certificate. Namespace: POD_NAMESPACE, else that of the Advertisement.",
    { check: secretProblem },
  ),
  "join-secret": word(
    "[NAMESPACE/]NAME",
    "Secret with an invitation, as brokerctl invite writes it: the agent gets its certificate with it, and the broker's address.",
    { check: secretProblem },
  ),
  "broker-kubeconfig": word(
    "FILE",
    "Kubeconfig of the broker's cluster, for the kubernetes transport: brokerctl kubeconfig issue writes one.",
  ),
  "broker-namespace": word(
    "NAME",
    "Where the broker keeps its objects (its --http-namespace). Without effect over http.",
    { defaultText: "default", check: namespaceProblem },
  ),
};

const CLUSTER_SETTINGS = {
  "cluster-id": word(
    "ID",
    "ID of this cluster. Empty: the name in the certificate or kubeconfig for the broker (any other value is refused), else the UID of kube-system.",
    { check: clusterIdProblem },
  ),
  "cluster-name": word("NAME", "Name to show for this cluster. Empty: its ID.", {
    check: displayNameProblem,
  }),
  "cluster-endpoint": word(
    "https://HOST:PORT",
    "Where others reach this cluster's API server. Empty: the kubeconfig's server, unless only this machine or this cluster can reach it.",
    { check: endpointProblem },
  ),
  "cluster-labels": words(
    "NAME=VALUE,NAME=VALUE",
    "Labels to advertise beside region and zone, as name=value with commas between them.",
    { read: readClusterLabel },
  ),
  kubeconfig: word(
    "FILE",
    "Kubeconfig of this cluster. Empty: KUBECONFIG, the pod's service account, ~/.kube/config.",
  ),
  context: word("NAME", "Context of the kubeconfig. Empty: its current one."),
};

const ADVERTISING_SETTINGS = {
  "advertisement-name": word("NAME", "Name of the Advertisement that shows what was advertised.", {
    defaultText: "cluster-advertisement",
    check: objectNameProblem,
  }),
  "advertisement-namespace": word("NAME", "Namespace of the Advertisement.", {
    defaultText: "default",
    check: namespaceProblem,
  }),
  "advertisement-requeue-interval": duration({
    description:
      "How often the cluster is advertised when nothing changes; keep it well below the broker's staleness (2m).",
    defaultText: "30s",
  }),
  "instruction-namespace": word("NAME", "Namespace of the instructions. Empty: that of the Advertisement.", {
    check: namespaceProblem,
  }),
  "instruction-poll-interval": duration({
    description: "How often instructions are polled where the broker cannot push them; 0: never.",
    defaultText: "5s",
  }),
  "tolerated-taints": words(
    "TAINT,TAINT",
    'Taints that do not keep a node from being counted: "key", "key=value", "key:Effect" or "key=value:Effect".',
    { read: readToleratedTaint },
  ),
  "gpu-resources": words("NAME,NAME", "Extended resources that are counted together as GPUs.", {
    read: readExtendedResource,
    defaults: ["nvidia.com/gpu"],
  }),
  "extended-resources": words("NAME,NAME", "Other extended resources to lend, each under its own name.", {
    read: readExtendedResource,
  }),
};

const LEADER_SETTINGS = {
  "leader-elect": toggle({
    description: "Wait for a Lease before doing anything: for several replicas of one agent.",
    defaultValue: false,
  }),
  "leader-election-id": word("NAME", "Name of that Lease.", {
    defaultText: "resource-broker-agent",
    check: objectNameProblem,
  }),
  "leader-election-namespace": word(
    "NAME",
    "Namespace of that Lease. Empty: POD_NAMESPACE, else that of the Advertisement.",
    { check: namespaceProblem },
  ),
};

/** Every flag of the agent, with its default and meaning. */
export const AGENT_SETTINGS = {
  ...BROKER_SETTINGS,
  ...CLUSTER_SETTINGS,
  ...ADVERTISING_SETTINGS,
  ...PRICE_SETTINGS,
  ...DATA_PLANE_SETTINGS,
  ...LEADER_SETTINGS,
  ...probeSettings({
    healthPages: "/healthz and /readyz",
    healthAddress: ":8081",
    metricsAddress: ":8080",
  }),
  ...PROGRAM_SETTINGS,
};

/** As given, with empty defaults filled in. */
export type AgentSettings = Values<typeof AGENT_SETTINGS>;

export const AGENT_ENV_PREFIX = "AGENT_";

/** How the client's messages name the agent's flags. */
export const AGENT_HINTS: ClientHints = {
  program: "agent",
  url: "--broker-url",
  certificates: "the folder of --broker-cert-path",
};
