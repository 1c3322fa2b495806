import { CERTS } from "./certs/commands.ts";
import type { CommandGroup } from "./cli/command.ts";
import { defineCommand } from "./cli/define-command.ts";
import { KUBECONFIG } from "./kubeconfig/commands.ts";
import { LEDGER_COMMANDS } from "./ledger/commands.ts";
import { OUTPUT } from "./output/output-option.ts";

/** Every command there is. A new one adds its line here, or to its group. */
export const ROOT: CommandGroup = {
  name: "brokerctl",
  summary: "Looks after a Resource Broker: its certificates, its agents' access and its ledger",
  commands: [
    CERTS,
    KUBECONFIG,
    ...LEDGER_COMMANDS,
    defineCommand({
      name: "version",
      summary: "Tells the version of brokerctl and of the Node it runs on",
      options: { output: OUTPUT },
      load: async () => (await import("./version.ts")).version,
    }),
  ],
};
