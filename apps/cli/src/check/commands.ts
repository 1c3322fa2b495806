import type { Command } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import { CHECK_OPTIONS } from "./options.ts";

export const CHECK: Command = defineCommand({
  name: "check",
  summary: "Checks that everything is in place: certificates, broker, clocks, CRDs, rights, agents",
  details: `One line for each thing that must be right, with what to do where it is not. Changes nothing. Ends
with status 1 when something is wrong; what only deserves a look does not count. --kube-context names
the cluster, --context the broker.`,
  options: CHECK_OPTIONS,
  examples: [
    "brokerctl check",
    "brokerctl check --only cluster --kube-context rome",
    "brokerctl check --only cluster --agent --kubeconfig rome-agent.yaml",
  ],
  load: async () => (await import("./check.ts")).check,
});
