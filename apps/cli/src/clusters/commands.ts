import type { Command } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import {
  CORDON_OPTIONS,
  DESCRIBE_CLUSTER_OPTIONS,
  GET_CLUSTERS_OPTIONS,
  UNCORDON_OPTIONS,
} from "./options.ts";

const CLUSTER_ID = { name: "cluster-id", summary: "the cluster's ID" };

export const GET_CLUSTERS: Command = defineCommand({
  name: "clusters",
  aliases: ["cluster"],
  summary: "Lists the clusters: what each can still lend, at what price, and whether it may",
  details: `CPU, MEMORY and GPU are what is left of what there is; PRICE is for one CPU for one hour; FRESH is
how long ago the broker received the cluster's last advertisement. -o wide shows more.
Needs an admin's certificate, or names your own cluster.`,
  arguments: [{ ...CLUSTER_ID, optional: true }],
  options: GET_CLUSTERS_OPTIONS,
  examples: [
    "brokerctl get clusters",
    "brokerctl get clusters -l topology.kubernetes.io/region=eu-west -o wide",
    "brokerctl get clusters paris -o json",
  ],
  load: async () => (await import("./get-clusters.ts")).getClusters,
});

export const DESCRIBE_CLUSTER: Command = defineCommand({
  name: "cluster",
  aliases: ["clusters"],
  summary: "Shows everything known of one cluster, and what it lends and borrows",
  arguments: [CLUSTER_ID],
  options: DESCRIBE_CLUSTER_OPTIONS,
  examples: ["brokerctl describe cluster paris"],
  load: async () => (await import("./describe-cluster.ts")).describeCluster,
});

export const CORDON_COMMANDS: readonly Command[] = [
  defineCommand({
    name: "cordon",
    summary: "Keeps a cluster from lending anything new; what it lends already stays",
    arguments: [CLUSTER_ID],
    options: CORDON_OPTIONS,
    examples: ['brokerctl cordon tokyo --reason "maintenance until Friday"'],
    load: async () => (await import("./cordon.ts")).cordon,
  }),
  defineCommand({
    name: "uncordon",
    summary: "Lets a cluster lend again",
    arguments: [CLUSTER_ID],
    options: UNCORDON_OPTIONS,
    examples: ["brokerctl uncordon tokyo"],
    load: async () => (await import("./cordon.ts")).uncordon,
  }),
];
