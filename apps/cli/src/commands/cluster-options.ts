import { OUTPUT } from "../cli/command.ts";

/** Which cluster; the same as kubectl's. Light on purpose: every help is made from it. */
export const CLUSTER = {
  kubeconfig: {
    kind: "text",
    value: "file",
    summary: "your kubeconfig; without it, as kubectl finds it",
  },
  context: { kind: "text", value: "name", summary: "which context of it; without it, the current one" },
} as const;

/** Where --context names the broker already. */
export const KUBE_CONTEXT = {
  kind: "text",
  value: "name",
  summary: "which context of the kubeconfig; without it, the current one",
} as const;

export const NAMESPACE = {
  kind: "text",
  short: "n",
  value: "name",
  summary: "the namespace; without it, that of your context",
} as const;

const ALL_NAMESPACES = { kind: "flag", short: "A", summary: "look in every namespace" } as const;

const SELECTOR = {
  kind: "text",
  short: "l",
  value: "labels",
  summary: "only objects with these labels, for example app=shop,tier!=test",
} as const;

export const GET_OBJECTS_OPTIONS = {
  namespace: NAMESPACE,
  "all-namespaces": ALL_NAMESPACES,
  selector: SELECTOR,
  watch: { kind: "flag", short: "w", summary: "keep running and print changes" },
  output: OUTPUT,
  ...CLUSTER,
} as const;

export const DESCRIBE_OBJECT_OPTIONS = { namespace: NAMESPACE, output: OUTPUT, ...CLUSTER } as const;

export const CLEAR_OPTIONS = {
  yes: { kind: "flag", summary: "remove the finalizers; without this, the reservations are only listed" },
  force: { kind: "flag", summary: "also while a broker runs there, which would release them itself" },
  namespace: NAMESPACE,
  "all-namespaces": ALL_NAMESPACES,
  selector: SELECTOR,
  output: OUTPUT,
  ...CLUSTER,
} as const;

/** Light on purpose: the help is made from this. */
export const KUBECONFIG_ISSUE_OPTIONS = {
  out: {
    kind: "text",
    value: "file",
    summary: "write the kubeconfig there, readable by its owner only; without it, to standard output",
  },
  duration: {
    kind: "duration",
    value: "time",
    summary: "how long the token is valid (default: 8760h); the API server may grant less",
  },
  "long-lived": {
    kind: "flag",
    summary: "a token that does not expire, stored in a Secret",
  },
  server: {
    kind: "text",
    value: "url",
    summary: "where the agent reaches the API server, if not where you do",
  },
  "certificate-authority": {
    kind: "text",
    value: "file",
    summary: "who signed the API server's certificate, if not the one in your kubeconfig",
  },
  revoke: {
    kind: "flag",
    summary: "remove the access instead: every kubeconfig of this cluster stops working",
  },
  namespace: {
    kind: "text",
    short: "n",
    value: "name",
    summary: "the broker's --http-namespace; without it, that of your context",
  },
  kubeconfig: {
    kind: "text",
    value: "file",
    summary: "your own, for the broker's cluster; without it, as kubectl finds it",
  },
  context: { kind: "text", value: "name", summary: "which context of it; without it, the current one" },
  output: OUTPUT,
} as const;
