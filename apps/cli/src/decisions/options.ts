import { CONNECTION } from "../connection/options.ts";
import { CLUSTER, KUBE_CONTEXT, NAMESPACE } from "../objects/options.ts";
import { OUTPUT } from "../output/output-option.ts";

export const EXPLAIN_OPTIONS = {
  output: OUTPUT,
  ...CONNECTION,
  namespace: { ...NAMESPACE, summary: "of a request: its namespace; without it, that of your kubeconfig" },
  kubeconfig: CLUSTER.kubeconfig,
  "kube-context": KUBE_CONTEXT,
} as const;

export const REPLAY_OPTIONS = { output: OUTPUT, ...CONNECTION } as const;
