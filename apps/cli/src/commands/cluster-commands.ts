import type { Command, CommandGroup } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import { CHECK_OPTIONS } from "./broker-options.ts";
import {
  CLEAR_OPTIONS,
  DESCRIBE_OBJECT_OPTIONS,
  GET_OBJECTS_OPTIONS,
  KUBECONFIG_ISSUE_OPTIONS,
} from "./cluster-options.ts";
import { GET_REQUESTS_OPTIONS } from "./queue-options.ts";

const NAME = { name: "name", summary: "only this one", optional: true } as const;

/** What people and agents keep in a cluster; read with a kubeconfig, no broker is asked. */
export const GET_OBJECTS: readonly Command[] = [
  defineCommand({
    name: "requests",
    aliases: ["request", "resourcerequests", "resourcerequest", "rreq"],
    summary: "Lists a cluster's ResourceRequests and their state",
    details: `Read with your kubeconfig from the cluster that asks; the broker is not needed. With --all-clusters
the broker is asked, and nothing is read with a kubeconfig: one row for each request of any cluster
that waits, in the order of the queue, or that has a reservation. QUEUE is its place.`,
    arguments: [NAME],
    options: GET_REQUESTS_OPTIONS,
    examples: [
      "brokerctl get requests --all-clusters",
      "brokerctl get requests",
      "brokerctl get requests -A -w",
      "brokerctl get requests --context rome -n shop -o wide",
    ],
    load: async () => (await import("../objects/get-objects.ts")).getRequests,
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
    load: async () => (await import("../objects/get-objects.ts")).getAdvertisements,
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
    load: async () => (await import("../objects/get-objects.ts")).getInstructions,
  }),
];

export const DESCRIBE_REQUEST: Command = defineCommand({
  name: "request",
  aliases: ["requests", "resourcerequests", "resourcerequest", "rreq"],
  summary: "Shows one ResourceRequest: its state, conditions, events and instruction",
  arguments: [{ name: "name", summary: "its name, also as request/<name>" }],
  options: DESCRIBE_OBJECT_OPTIONS,
  examples: ["brokerctl describe request more", "brokerctl describe request more -n shop --context rome"],
  load: async () => (await import("../objects/describe-request.ts")).describeRequest,
});

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
  load: async () => (await import("../check/check.ts")).check,
});

export const FINALIZERS: CommandGroup = {
  name: "finalizers",
  summary: "Removes the finalizers that a deleted broker has left in its cluster",
  commands: [
    defineCommand({
      name: "clear",
      summary: "Takes the broker's finalizer off Reservations, so that they can be deleted",
      details: `The finalizer keeps a deleted Reservation until the broker has released its resources. Without a
broker the object and its namespace stay for ever. Without --yes the Reservations are only listed.
Deletes nothing itself: objects that were deleted before disappear at once, the others stay. Agents
keep what was reserved until it expires. Refused while a broker runs there.`,
      arguments: [{ name: "name", summary: "only this Reservation", optional: true }],
      options: CLEAR_OPTIONS,
      examples: ["brokerctl finalizers clear -n broker", "brokerctl finalizers clear -A --yes"],
      load: async () => (await import("../finalizers/clear.ts")).clear,
    }),
  ],
};

const KUBECONFIG_DETAILS = `Makes a ServiceAccount agent-<cluster-id> in the broker's namespace, binds it to the Role
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
      details: KUBECONFIG_DETAILS,
      arguments: [{ name: "cluster-id", summary: "the cluster's ID: a-z, 0-9, dots and dashes" }],
      options: KUBECONFIG_ISSUE_OPTIONS,
      examples: [
        "brokerctl kubeconfig issue rome -n broker --out rome.yaml",
        "brokerctl kubeconfig issue rome --server https://broker.example.org:6443 --long-lived --out rome.yaml",
        "brokerctl kubeconfig issue rome -n broker --revoke",
      ],
      load: async () => (await import("../kubeconfig/issue.ts")).issue,
    }),
  ],
};
