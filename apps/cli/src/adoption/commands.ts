import type { CommandGroup } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import { ADOPTION_OPTIONS, OPEN_ADOPTION_OPTIONS } from "./options.ts";

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
      options: ADOPTION_OPTIONS,
      examples: ["brokerctl adoption show"],
      load: async () => (await import("./adoption.ts")).showAdoption,
    }),
    defineCommand({
      name: "open",
      summary: "Allows the adoption of reservations made before now, for a limited time",
      details: `Use it when the ledger has lost reservations without noticing, such as a database restored by
other means than brokerctl restore. Both parties must report the same reservation; quota and
lending rules apply. Recorded in the audit log. Needs an admin's certificate.`,
      options: OPEN_ADOPTION_OPTIONS,
      examples: ["brokerctl adoption open --for 2h"],
      load: async () => (await import("./adoption.ts")).openAdoption,
    }),
    defineCommand({
      name: "close",
      summary: "Ends adoption now",
      options: ADOPTION_OPTIONS,
      examples: ["brokerctl adoption close"],
      load: async () => (await import("./adoption.ts")).closeAdoption,
    }),
  ],
};
