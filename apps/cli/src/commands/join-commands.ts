import type { Command } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import {
  ACCEPT_OPTIONS,
  EVICT_OPTIONS,
  GET_MEMBERS_OPTIONS,
  INVITE_OPTIONS,
  JOIN_OPTIONS,
} from "./join-options.ts";

const CLUSTER_ID = { name: "cluster-id", summary: "the cluster's ID" };

export const GET_MEMBERS: readonly Command[] = [
  defineCommand({
    name: "members",
    aliases: ["member"],
    summary: "Lists the clusters that have joined, are invited or were evicted",
    details: `STATE is invited, unconfirmed (an agent waits for brokerctl accept), expired, joined or evicted.
Clusters that never used an identity key are not listed. Needs an admin's certificate.`,
    arguments: [{ ...CLUSTER_ID, optional: true }],
    options: GET_MEMBERS_OPTIONS,
    examples: ["brokerctl get members", "brokerctl get members rome -o json"],
    load: async () => (await import("../join/members.ts")).getMembers,
  }),
  defineCommand({
    name: "invitations",
    aliases: ["invitation"],
    summary: "Lists the invitations that wait for an agent, for an admin, or have expired",
    arguments: [{ ...CLUSTER_ID, optional: true }],
    options: GET_MEMBERS_OPTIONS,
    examples: ["brokerctl get invitations", "brokerctl get invitations -w"],
    load: async () => (await import("../join/members.ts")).getInvitations,
  }),
];

export const JOIN_COMMANDS: readonly Command[] = [
  defineCommand({
    name: "invite",
    summary: "Invites a cluster: prints a Secret with a token, with which its agent gets a certificate",
    details: `The token is made here; the broker learns its hash only. It can be used once, by one agent.
What is printed is a secret: pipe it to brokerctl join, or to kubectl apply -f - in that cluster.
Needs an admin's certificate.`,
    arguments: [CLUSTER_ID],
    options: INVITE_OPTIONS,
    examples: [
      "brokerctl invite rome | brokerctl join --context rome",
      "brokerctl invite rome --broker-url https://broker.example.org:8443 --lifetime 24h",
      "brokerctl invite rome --replace",
    ],
    load: async () => (await import("../join/invite.ts")).invite,
  }),
  defineCommand({
    name: "join",
    summary: "Installs the agent into the cluster of your kubeconfig, with an invitation",
    details: `Shows the cluster and the broker and asks, makes the namespace and the Secret, runs the helm that is
on PATH (3.14 or newer), and waits until the broker has accepted the cluster's first advertisement.
Without helm it ends with status 2 and prints the commands to run instead. Running it again is an
upgrade.`,
    options: JOIN_OPTIONS,
    examples: [
      "brokerctl invite rome | brokerctl join --context rome",
      "brokerctl join -f invitation.yaml --context rome --yes",
      "brokerctl join -f invitation.yaml --set liqo.mode=relay",
    ],
    load: async () => (await import("../join/join.ts")).join,
  }),
  defineCommand({
    name: "accept",
    summary: "Accepts the agent of a cluster that was invited with --confirm",
    details: "Compare the fingerprint with the agent's own log, not with what the broker shows.",
    arguments: [CLUSTER_ID],
    options: ACCEPT_OPTIONS,
    examples: ["brokerctl accept rome --fingerprint SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"],
    load: async () => (await import("../join/members.ts")).accept,
  }),
  defineCommand({
    name: "evict",
    summary: "Ends the membership of a cluster: every call of its agent is refused",
    details: "Also for clusters whose certificate came from cert-manager or brokerctl certs.",
    arguments: [CLUSTER_ID],
    options: EVICT_OPTIONS,
    examples: ['brokerctl evict rome --reason "its machines were sold"'],
    load: async () => (await import("../join/members.ts")).evict,
  }),
];
