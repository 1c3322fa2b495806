import { type CommandGroup, OUTPUT } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import { COMPLETION } from "../cli/complete.ts";
import {
  ADOPTION,
  AUDIT,
  CORDON_COMMANDS,
  DASHBOARD,
  DECISION_COMMANDS,
  DESCRIBE_CLUSTER,
  DESCRIBE_RESERVATION,
  GET_CLUSTERS,
  GET_RESERVATIONS,
  RESERVATION_COMMANDS,
} from "./broker-commands.ts";
import { CHECK, DESCRIBE_REQUEST, FINALIZERS, GET_OBJECTS, KUBECONFIG } from "./cluster-commands.ts";
import { GET_MEMBERS, JOIN_COMMANDS } from "./join-commands.ts";
import { DRAIN, GET_QUEUE } from "./queue-commands.ts";
import { CERTS, LEDGER_COMMANDS } from "./local-commands.ts";

const GET: CommandGroup = {
  name: "get",
  summary: "Lists objects of the broker or of one cluster",
  commands: [GET_CLUSTERS, ...GET_MEMBERS, GET_RESERVATIONS, ...GET_QUEUE, ...GET_OBJECTS],
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
    DRAIN,
    ...JOIN_COMMANDS,
    DASHBOARD,
    CERTS,
    KUBECONFIG,
    AUDIT,
    ADOPTION,
    ...LEDGER_COMMANDS,
    CHECK,
    FINALIZERS,
    COMPLETION,
    defineCommand({
      name: "version",
      summary: "Prints the version of brokerctl and of Node",
      options: { output: OUTPUT },
      load: async () => (await import("../version.ts")).version,
    }),
  ],
};
