import { ADOPTION } from "./adoption/commands.ts";
import { AUDIT } from "./audit/commands.ts";
import { CERTS } from "./certs/commands.ts";
import { CHECK } from "./check/commands.ts";
import type { CommandGroup } from "./cli/command.ts";
import { defineCommand } from "./cli/define-command.ts";
import { CORDON_COMMANDS, DESCRIBE_CLUSTER, GET_CLUSTERS } from "./clusters/commands.ts";
import { completionCommands } from "./completion/commands.ts";
import { DASHBOARD } from "./dashboard/commands.ts";
import { DECISION_COMMANDS } from "./decisions/commands.ts";
import { FINALIZERS } from "./finalizers/commands.ts";
import { KUBECONFIG } from "./kubeconfig/commands.ts";
import { LEDGER_COMMANDS } from "./ledger/commands.ts";
import { DESCRIBE_REQUEST, GET_OBJECTS } from "./objects/commands.ts";
import { OUTPUT } from "./output/output-option.ts";
import { DESCRIBE_RESERVATION, GET_RESERVATIONS, RESERVATION_COMMANDS } from "./reservations/commands.ts";

const GET: CommandGroup = {
  name: "get",
  summary: "Lists objects of the broker or of one cluster",
  commands: [GET_CLUSTERS, GET_RESERVATIONS, ...GET_OBJECTS],
};

const DESCRIBE: CommandGroup = {
  name: "describe",
  summary: "Shows one object with all its details",
  commands: [DESCRIBE_CLUSTER, DESCRIBE_RESERVATION, DESCRIBE_REQUEST],
};

/** Every command there is. A new one adds its line here, or to its group. */
export const ROOT: CommandGroup = {
  name: "brokerctl",
  summary: "Manages a Resource Broker: reservations, decisions, certificates, ledger",
  commands: [
    GET,
    DESCRIBE,
    ...DECISION_COMMANDS,
    ...RESERVATION_COMMANDS,
    ...CORDON_COMMANDS,
    DASHBOARD,
    CERTS,
    KUBECONFIG,
    AUDIT,
    ADOPTION,
    ...LEDGER_COMMANDS,
    CHECK,
    FINALIZERS,
    completionCommands(() => ROOT),
    defineCommand({
      name: "version",
      summary: "Prints the version of brokerctl and of Node",
      options: { output: OUTPUT },
      load: async () => (await import("./version.ts")).version,
    }),
  ],
};
