import { resolve } from "node:path";
import { backupLedger } from "@resource-broker/broker";
import type { Run } from "../cli/command.ts";
import { print } from "../output/print.ts";
import { properties } from "../output/table.ts";
import { asCommandError, ledgerFolder } from "./ledger-folder.ts";
import type { BACKUP_OPTIONS } from "./options.ts";

export const backup: Run<typeof BACKUP_OPTIONS> = async ({ options, words }, host) => {
  const directory = ledgerFolder(options.store);
  const file = resolve(words[0] ?? "");
  await backupLedger({ directory, file }).catch((error: unknown) => {
    throw asCommandError(error);
  });
  host.note(`Copied the ledger in ${directory}\n`);
  print(
    { data: { file }, table: () => properties([["Copy", file]]), names: () => [file] },
    options.output,
    host,
  );
};
