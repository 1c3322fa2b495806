import type { Command } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import { AUDIT_OPTIONS } from "./options.ts";

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
  load: async () => (await import("./audit.ts")).audit,
});
