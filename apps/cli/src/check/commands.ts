import type { Command } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import { CHECK_OPTIONS } from "./options.ts";

export const CHECK: Command = defineCommand({
  name: "check",
  summary: "Checks that everything is in place: certificates, broker, clocks, CRDs, rights, agents",
  details: `Prints one line for each check, with the remedy where a check fails. Changes nothing. Ends
with status 1 when a check fails; warnings do not count. --kube-context names
the cluster, --context the broker.`,
  options: CHECK_OPTIONS,
  examples: [
    "brokerctl check",
    "brokerctl check --only cluster --kube-context rome",
    "brokerctl check --only cluster --agent --kubeconfig rome-agent.yaml",
  ],
  load: async () => (await import("./check.ts")).check,
});
