import type { Entry } from "../cli/command.ts";
import { defineCommand } from "../cli/define-command.ts";
import { BACKUP_OPTIONS, RESTORE_OPTIONS } from "./options.ts";

/** What is done to the files of an embedded store. */
export const LEDGER_COMMANDS: readonly Entry[] = [
  defineCommand({
    name: "backup",
    summary: "Copies the ledger into one file; the broker may run or not",
    arguments: [{ name: "file", summary: "the copy to write; must not exist yet" }],
    options: BACKUP_OPTIONS,
    examples: ["brokerctl backup --store sqlite:data copy.db"],
    load: async () => (await import("./backup.ts")).backup,
  }),
  defineCommand({
    name: "restore",
    summary: "Puts a copy in place of the ledger, after checking it; the broker must be stopped",
    arguments: [{ name: "file", summary: "a copy made by brokerctl backup" }],
    options: RESTORE_OPTIONS,
    examples: ["brokerctl restore --store sqlite:data --force copy.db"],
    load: async () => (await import("./restore.ts")).restore,
  }),
];
