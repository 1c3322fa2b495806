import { CONNECTION } from "../connection/options.ts";
import { CLUSTER, KUBE_CONTEXT, NAMESPACE } from "../objects/options.ts";
import { OUTPUT } from "../output/output-option.ts";

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
