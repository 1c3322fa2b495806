import type { CommandGroup } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import { ADOPTION_OPTIONS, OPEN_ADOPTION_OPTIONS } from "./options.ts";

export const ADOPTION: CommandGroup = {
  name: "adoption",
  summary: "Whether the broker takes in reservations that agents hold and its ledger does not know",
  commands: [
    defineCommand({
      name: "show",
      summary: "Tells whether adoption is open, since when and why",
      details: `It is open for 24 hours after the ledger was made empty or restored from a backup. Only holds made
before that are adopted. Needs an admin's certificate.`,
      options: ADOPTION_OPTIONS,
      examples: ["brokerctl adoption show"],
      load: async () => (await import("./adoption.ts")).showAdoption,
    }),
    defineCommand({
      name: "open",
      summary: "Lets holds made before now be adopted for a while",
      details: `For a ledger that has lost something and does not know it, such as a database put back by other means
than brokerctl restore. Both parties must report the same hold; quota and lending rules apply. In the
audit log. Needs an admin's certificate.`,
      options: OPEN_ADOPTION_OPTIONS,
      examples: ["brokerctl adoption open --for 2h"],
      load: async () => (await import("./adoption.ts")).openAdoption,
    }),
    defineCommand({
      name: "close",
      summary: "Adopts nothing more from now on",
      options: ADOPTION_OPTIONS,
      examples: ["brokerctl adoption close"],
      load: async () => (await import("./adoption.ts")).closeAdoption,
    }),
  ],
};
