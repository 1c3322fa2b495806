import { existsSync } from "node:fs";
import { verifyLedger } from "@resource-broker/broker";
import type { Run } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { ledgerFolder } from "./ledger-folder.ts";
import type { VERIFY_OPTIONS } from "./options.ts";
import { printVerification } from "./print-verification.ts";

export const verify: Run<typeof VERIFY_OPTIONS> = async ({ options }, host) => {
  const verification = verifyLedger(ledgerFolder(options.store));
  if (!existsSync(verification.file)) {
    throw new CommandError(
      "error",
      `there is no ledger at ${verification.file}. --store names its folder, as in the broker's own --store`,
    );
  }
  printVerification(verification, options.output, host);
  const [first] = verification.problems;
  if (first !== undefined) {
    throw new CommandError(
      "error",
      `the ledger is damaged: ${first}. Restore a copy: brokerctl restore <copy>`,
    );
  }
};
