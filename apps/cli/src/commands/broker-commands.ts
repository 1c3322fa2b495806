import type { Command, CommandGroup } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import {
  AUDIT_OPTIONS,
  BROKER_OPTIONS,
  CORDON_OPTIONS,
  DASHBOARD_OPTIONS,
  EXPLAIN_OPTIONS,
  GET_CLUSTERS_OPTIONS,
  GET_RESERVATIONS_OPTIONS,
  OPEN_ADOPTION_OPTIONS,
  QUOTE_OPTIONS,
  RELEASE_OPTIONS,
  RENEW_OPTIONS,
  RESERVE_OPTIONS,
  WAIT_OPTIONS,
} from "./broker-options.ts";

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
  load: async () => (await import("../clusters/get-clusters.ts")).getClusters,
});

export const DESCRIBE_CLUSTER: Command = defineCommand({
  name: "cluster",
  aliases: ["clusters"],
  summary: "Shows everything known of one cluster, and what it lends and borrows",
  arguments: [CLUSTER_ID],
  options: BROKER_OPTIONS,
  examples: ["brokerctl describe cluster paris"],
  load: async () => (await import("../clusters/get-clusters.ts")).describeCluster,
});

export const CORDON_COMMANDS: readonly Command[] = [
  defineCommand({
    name: "cordon",
    summary: "Keeps a cluster from lending anything new; what it lends already stays",
    arguments: [CLUSTER_ID],
    options: CORDON_OPTIONS,
    examples: ['brokerctl cordon tokyo --reason "maintenance until Friday"'],
    load: async () => (await import("../clusters/cordon.ts")).cordon,
  }),
  defineCommand({
    name: "uncordon",
    summary: "Lets a cluster lend again",
    arguments: [CLUSTER_ID],
    options: BROKER_OPTIONS,
    examples: ["brokerctl uncordon tokyo"],
    load: async () => (await import("../clusters/cordon.ts")).uncordon,
  }),
];

const RESERVATION = { name: "reservation", summary: "its ID, also as reservation/<id>" };

export const GET_RESERVATIONS: Command = defineCommand({
  name: "reservations",
  aliases: ["reservation", "rsv"],
  summary: "Lists reservations: requester, provider, resources, expiry",
  details: "An admin sees all of them, a cluster those that it is party to.",
  arguments: [{ ...RESERVATION, optional: true }],
  options: GET_RESERVATIONS_OPTIONS,
  examples: [
    "brokerctl get reservations",
    "brokerctl get reservations --provider paris -w",
    "brokerctl get reservations --all -o wide",
  ],
  load: async () => (await import("../reservations/get-reservations.ts")).getReservations,
});

export const DESCRIBE_RESERVATION: Command = defineCommand({
  name: "reservation",
  aliases: ["reservations", "rsv"],
  summary: "Shows one reservation and the decision behind it, or a request that waits and what it lacks",
  arguments: [RESERVATION],
  options: BROKER_OPTIONS,
  examples: ["brokerctl describe reservation rsv-rome-k3u7dq2hvmx5b4ta"],
  load: async () => (await import("../reservations/get-reservations.ts")).describeReservation,
});

export const RESERVATION_COMMANDS: readonly Command[] = [
  defineCommand({
    name: "reserve",
    summary: "Reserves resources of another cluster for the cluster whose certificate is used",
    details: `An admin says for which cluster (--for). Status 3, and why for each, when nobody can lend that.
With --wait such a request waits in the queue instead: its place is shown until it is granted. Ctrl-C
leaves it waiting; brokerctl release gives it up. Status 3 when it was not granted in time.`,
    options: RESERVE_OPTIONS,
    examples: [
      "brokerctl reserve --cpu 4 --memory 8Gi --wait 4h",
      "brokerctl reserve --cpu 4 --memory 8Gi --wait 4h --no-follow --key job-42 -o name",
      "brokerctl reserve --cpu 4 --memory 8Gi --duration 1h --certs certs/clusters/rome",
      "brokerctl reserve --cpu 2 --memory 8Gi --gpu 1 --region eu-west --key job-42",
      "brokerctl reserve --for rome --cpu 2 --memory 8Gi --certs certs/clusters/ops",
    ],
    load: async () => (await import("../reservations/change.ts")).reserve,
  }),
  defineCommand({
    name: "renew",
    summary: "Extends a reservation",
    arguments: [RESERVATION],
    options: RENEW_OPTIONS,
    examples: ["brokerctl renew rsv-rome-k3u7dq2hvmx5b4ta --duration 2h"],
    load: async () => (await import("../reservations/change.ts")).renew,
  }),
  defineCommand({
    name: "release",
    summary: "Releases a reservation, or takes a request that waits out of the queue",
    arguments: [{ ...RESERVATION, optional: true }],
    options: RELEASE_OPTIONS,
    examples: ["brokerctl release rsv-rome-k3u7dq2hvmx5b4ta", "brokerctl release --key job-42"],
    load: async () => (await import("../reservations/change.ts")).release,
  }),
  defineCommand({
    name: "wait",
    summary: "Waits until a reservation is in a phase",
    details: "Ends with status 4 after the timeout, and with 6 when the phase can no longer be reached.",
    arguments: [RESERVATION],
    options: WAIT_OPTIONS,
    examples: [
      "brokerctl wait reservation/rsv-rome-k3u7dq2hvmx5b4ta --for=phase=Active --timeout 1m",
      "brokerctl wait rsv-rome-k3u7dq2hvmx5b4ta --for=released",
    ],
    load: async () => (await import("../reservations/change.ts")).wait,
  }),
];

export const DECISION_COMMANDS: readonly Command[] = [
  defineCommand({
    name: "explain",
    summary: "Explains a decision: every candidate, its score, and what would change the result",
    details: `Candidates that fitted come first, best first, with the parts of their score; then those that were
filtered out, with the reason and what they lacked; then the smallest change that would have changed
the decision. Of a request that waits: its place in the queue, and what would be decided now.`,
    arguments: [
      {
        name: "reservation|decision|request",
        summary:
          "an ID, also as reservation/<id> or decision/<id>; or request/<name>, read with your kubeconfig",
      },
    ],
    options: EXPLAIN_OPTIONS,
    examples: [
      "brokerctl explain rsv-rome-k3u7dq2hvmx5b4ta",
      "brokerctl explain decision/dec-4f0q2",
      "brokerctl explain request/more -n shop",
    ],
    load: async () => (await import("../decisions/explain.ts")).explain,
  }),
  defineCommand({
    name: "quote",
    summary: "Shows which cluster would be chosen now, at what price and why; nothing is reserved",
    details:
      "The requester is the cluster whose certificate is used. Ends with status 3 when no cluster fits.",
    options: QUOTE_OPTIONS,
    examples: [
      "brokerctl quote --cpu 2 --memory 8Gi --gpu 1",
      "brokerctl quote --cpu 500m --memory 1Gi --region eu-west -o json",
    ],
    load: async () => (await import("../decisions/explain.ts")).quote,
  }),
  defineCommand({
    name: "replay",
    summary: "Computes the winner of a decision again from its record, and compares it",
    details: `Ends with status 1 when the result differs. It needs all values of the record: use an admin's
certificate.`,
    arguments: [{ name: "decision", summary: "its ID, or the reservation it made" }],
    options: BROKER_OPTIONS,
    examples: ["brokerctl replay dec-4f0q2"],
    load: async () => (await import("../decisions/replay.ts")).replay,
  }),
];

export const DASHBOARD: Command = defineCommand({
  name: "dashboard",
  summary: "Makes a link that signs one browser in to the broker's dashboard",
  details: `The link works once, for two minutes; the browser then stays signed in for twelve hours.
Needs an admin's certificate, and a broker that was started with --dashboard-bind-address.`,
  options: DASHBOARD_OPTIONS,
  examples: ["brokerctl dashboard", "brokerctl dashboard --open", "brokerctl dashboard --viewer -o json"],
  load: async () => (await import("../dashboard/dashboard.ts")).dashboard,
});

export const AUDIT: Command = defineCommand({
  name: "audit",
  summary: "Shows the audit log: who did what, when and why; or checks that nobody has changed it",
  details: `Asks a broker, with an admin's certificate. "audit verify" reads the files of an embedded ledger
instead, with or without a running broker, and finds any change of the content.
Write the last hash down elsewhere: it proves the log up to that line.`,
  arguments: [{ name: "verify", summary: "check the ledger's own files (--store)", optional: true }],
  options: AUDIT_OPTIONS,
  examples: [
    "brokerctl audit",
    "brokerctl audit --follow",
    "brokerctl audit --verify",
    "brokerctl audit verify --store sqlite:data",
  ],
  load: async () => (await import("../audit/audit.ts")).audit,
});

export const ADOPTION: CommandGroup = {
  name: "adoption",
  summary:
    "Controls whether the broker adopts reservations that agents report and its ledger does not contain",
  commands: [
    defineCommand({
      name: "show",
      summary: "Shows whether adoption is open, since when and why",
      details: `It is open for 24 hours after the ledger was made empty or restored from a backup. Only
reservations made before that are adopted. Needs an admin's certificate.`,
      options: BROKER_OPTIONS,
      examples: ["brokerctl adoption show"],
      load: async () => (await import("../adoption/adoption.ts")).showAdoption,
    }),
    defineCommand({
      name: "open",
      summary: "Allows the adoption of reservations made before now, for a limited time",
      details: `Use it when the ledger has lost reservations without noticing, such as a database restored by
other means than brokerctl restore. Both parties must report the same reservation; quota and
lending rules apply. Recorded in the audit log. Needs an admin's certificate.`,
      options: OPEN_ADOPTION_OPTIONS,
      examples: ["brokerctl adoption open --for 2h"],
      load: async () => (await import("../adoption/adoption.ts")).openAdoption,
    }),
    defineCommand({
      name: "close",
      summary: "Ends adoption now",
      options: BROKER_OPTIONS,
      examples: ["brokerctl adoption close"],
      load: async () => (await import("../adoption/adoption.ts")).closeAdoption,
    }),
  ],
};
