import type { Command } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import { QUOTE_OPTIONS } from "../reservations/options.ts";
import { EXPLAIN_OPTIONS, REPLAY_OPTIONS } from "./options.ts";

export const DECISION_COMMANDS: readonly Command[] = [
  defineCommand({
    name: "explain",
    summary: "Explains a decision: every candidate, its score, and what would change the result",
    details: `Candidates that fitted come first, best first, with the parts of their score; then those that were
filtered out, with the reason and what they lacked; then the smallest change that would have changed
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
    summary: "Shows which cluster would be chosen now, at what price and why; nothing is reserved",
    details:
      "The requester is the cluster whose certificate is used. Ends with status 3 when no cluster fits.",
    options: QUOTE_OPTIONS,
    examples: [
      "brokerctl quote --cpu 2 --memory 8Gi --gpu 1",
      "brokerctl quote --cpu 500m --memory 1Gi --region eu-west -o json",
    ],
    load: async () => (await import("./quote.ts")).quote,
  }),
  defineCommand({
    name: "replay",
    summary: "Computes the winner of a decision again from its record, and compares it",
    details: `Ends with status 1 when the result differs. It needs all values of the record: use an admin's
certificate.`,
    arguments: [{ name: "decision", summary: "its ID, or the reservation it made" }],
    options: REPLAY_OPTIONS,
    examples: ["brokerctl replay dec-4f0q2"],
    load: async () => (await import("./replay.ts")).replay,
  }),
];
