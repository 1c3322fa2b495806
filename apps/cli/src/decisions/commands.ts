import type { Command } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import { QUOTE_OPTIONS } from "../reservations/options.ts";
import { EXPLAIN_OPTIONS, REPLAY_OPTIONS } from "./options.ts";

export const DECISION_COMMANDS: readonly Command[] = [
  defineCommand({
    name: "explain",
    summary: "Tells why the broker chose as it did: every candidate, its score, and what would flip it",
    details: `Candidates that fitted come first, best first, with the parts of their score; then those that were
passed over, with the reason and what they lacked; then the smallest change that would have turned
the decision.`,
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
    load: async () => (await import("./explain.ts")).explain,
  }),
  defineCommand({
    name: "quote",
    summary: "Tells who would lend that right now, at what price and why; nothing is held",
    details: "Asked for the cluster whose certificate is used. Ends with status 3 when nobody can lend that.",
    options: QUOTE_OPTIONS,
    examples: [
      "brokerctl quote --cpu 2 --memory 8Gi --gpu 1",
      "brokerctl quote --cpu 500m --memory 1Gi --region eu-west -o json",
    ],
    load: async () => (await import("./quote.ts")).quote,
  }),
  defineCommand({
    name: "replay",
    summary: "Computes a decision's winner again, from the numbers in its record, and compares",
    details:
      "Ends with status 1 when another cluster would have won. Needs the figures: an admin's certificate.",
    arguments: [{ name: "decision", summary: "its ID, or the reservation it made" }],
    options: REPLAY_OPTIONS,
    examples: ["brokerctl replay dec-4f0q2"],
    load: async () => (await import("./replay.ts")).replay,
  }),
];
