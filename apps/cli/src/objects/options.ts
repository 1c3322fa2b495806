import { OUTPUT } from "../output/output-option.ts";

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

export const ALL_NAMESPACES = { kind: "flag", short: "A", summary: "look in every namespace" } as const;

export const SELECTOR = {
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
