import { resolve } from "node:path";
import { restoreLedger } from "@resource-broker/broker";
import type { Run } from "../cli/command.ts";
import { asCommandError, ledgerFolder } from "./ledger-folder.ts";
import type { RESTORE_OPTIONS } from "./options.ts";
import { printVerification } from "./print-verification.ts";

export const restore: Run<typeof RESTORE_OPTIONS> = async ({ options, words }, host) => {
  const directory = ledgerFolder(options.store);
  try {
    const { force, "new-id": newId } = options;
    const file = resolve(words[0] ?? "");
    const verification = restoreLedger({ file, directory, force, newId, now: host.now() });
    host.note(
      `Restored the ledger in ${directory}. What was granted since the copy was made is held by the agents,\n`,
    );
    host.note("and adopted for 24 hours; what ended since is live again until it is released or expires.\n");
    printVerification(verification, options.output, host);
  } catch (error) {
    throw asCommandError(error);
  }
};
