import type { CommandGroup } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import { ISSUE_OPTIONS } from "./options.ts";

const DETAILS = `Makes a ServiceAccount agent-<cluster-id> in the broker's namespace, binds it to the Role
resource-broker-agents, and writes a kubeconfig with a token of it, for the agent's --broker-kubeconfig.
Running it again gives another token; earlier tokens stay valid until they expire, or until --revoke.
Before the first time, in the broker's cluster:

  kubectl apply --server-side -f deploy/crds
  kubectl apply -n <namespace> -f deploy/rbac/broker-agents.yaml
  kubectl apply -f deploy/admission/agent-writes.yaml`;

export const KUBECONFIG: CommandGroup = {
  name: "kubeconfig",
  summary: "Gives clusters access to a broker that is reached through Kubernetes",
  commands: [
    defineCommand({
      name: "issue",
      summary: "Makes the kubeconfig with which a cluster's agent talks to the broker's cluster",
      details: DETAILS,
      arguments: [{ name: "cluster-id", summary: "the cluster's ID: a-z, 0-9, dots and dashes" }],
      options: ISSUE_OPTIONS,
      examples: [
        "brokerctl kubeconfig issue rome -n broker --out rome.yaml",
        "brokerctl kubeconfig issue rome --server https://broker.example.org:6443 --long-lived --out rome.yaml",
        "brokerctl kubeconfig issue rome -n broker --revoke",
      ],
      load: async () => (await import("./issue.ts")).issue,
    }),
  ],
};
