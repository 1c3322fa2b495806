import type { Command } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import { DESCRIBE_OBJECT_OPTIONS, GET_OBJECTS_OPTIONS } from "./options.ts";

const NAME = { name: "name", summary: "only this one", optional: true } as const;

/** What people and agents keep in a cluster; read with a kubeconfig, no broker is asked. */
export const GET_OBJECTS: readonly Command[] = [
  defineCommand({
    name: "requests",
    aliases: ["request", "resourcerequests", "resourcerequest", "rreq"],
    summary: "Lists a cluster's ResourceRequests and their state",
    details: "Read with your kubeconfig from the cluster that asks; the broker is not needed.",
    arguments: [NAME],
    options: GET_OBJECTS_OPTIONS,
    examples: [
      "brokerctl get requests",
      "brokerctl get requests -A -w",
      "brokerctl get requests --context rome -n shop -o wide",
    ],
    load: async () => (await import("./get-requests.ts")).getRequests,
  }),
  defineCommand({
    name: "advertisements",
    aliases: ["advertisement", "adv"],
    summary: "Lists the advertisements of a cluster's agent, and whether the broker accepted them",
    details: `CPU, MEMORY and GPU are what is left of what there is; FRESH is how long ago the agent computed
it. Read with your kubeconfig; the broker is not needed.`,
    arguments: [NAME],
    options: GET_OBJECTS_OPTIONS,
    examples: ["brokerctl get advertisements -A", "brokerctl get advertisements --context paris -o yaml"],
    load: async () => (await import("./get-advertisements.ts")).getAdvertisements,
  }),
  defineCommand({
    name: "instructions",
    aliases: ["instruction"],
    summary: "Lists the instructions of a cluster: as requester (borrows) and as provider (lends)",
    details: `Both kinds of object in one list: ReservationInstructions and ProviderInstructions. STATE is
Delivered when borrowed resources can be used, Held when lent ones are kept free. Read with your
kubeconfig.`,
    arguments: [NAME],
    options: GET_OBJECTS_OPTIONS,
    examples: ["brokerctl get instructions -A", "brokerctl get instructions --context paris -o name"],
    load: async () => (await import("./get-instructions.ts")).getInstructions,
  }),
];

export const DESCRIBE_REQUEST: Command = defineCommand({
  name: "request",
  aliases: ["requests", "resourcerequests", "resourcerequest", "rreq"],
  summary: "Shows one ResourceRequest: its state, conditions, events and instruction",
  arguments: [{ name: "name", summary: "its name, also as request/<name>" }],
  options: DESCRIBE_OBJECT_OPTIONS,
  examples: ["brokerctl describe request more", "brokerctl describe request more -n shop --context rome"],
  load: async () => (await import("./describe-request.ts")).describeRequest,
});
