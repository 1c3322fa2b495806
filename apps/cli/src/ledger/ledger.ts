import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { errorText } from "@resource-broker/base";
import { backupLedger, restoreLedger, type Verification, verifyLedger } from "@resource-broker/broker";
import type { Run, View } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { properties } from "../output/print.ts";
import type { BACKUP_OPTIONS, RESTORE_OPTIONS } from "../commands/local-options.ts";

export const backup: Run<typeof BACKUP_OPTIONS> = async ({ options, words: [word = ""] }, host) => {
  const directory = ledgerFolder(options.store);
  const file = resolve(word);
  await backupLedger({ directory, file }).catch((error: unknown) => {
    throw asCommandError(error);
  });
  host.note(`Copied the ledger in ${directory}\n`);
  return { data: { file }, table: () => properties([["Copy", file]]), names: [file] };
};

export const restore: Run<typeof RESTORE_OPTIONS> = async ({ options, words: [word = ""] }, host) => {
  const directory = ledgerFolder(options.store);
  try {
    const { force, "new-id": newId } = options;
    const restored = restoreLedger({ file: resolve(word), directory, force, newId, now: host.now() });
    host.note(
      `Restored the ledger in ${directory}. What was granted since the copy was made is held by the agents,\n`,
    );
    host.note("and adopted for 24 hours; what ended since is live again until it is released or expires.\n");
    return verificationView(restored);
  } catch (error) {
    throw asCommandError(error);
  }
};

/** Checks the files of an embedded ledger. */
export function verify(store: string): View {
  const verification = verifyLedger(ledgerFolder(store));
  if (!existsSync(verification.file)) {
    throw new CommandError(
      "error",
      `there is no ledger at ${verification.file}. --store names its folder, as in the broker's own --store`,
    );
  }
  return verificationView(verification);
}

/** The folder in `sqlite:<folder>`: the one kind of store whose files can be handled from outside. */
function ledgerFolder(store: string): string {
  const [, folder] = /^sqlite:(.+)$/u.exec(store) ?? [];
  if (folder !== undefined) return folder;
  throw new CommandError(
    "usage",
    `--store must name a folder, for example sqlite:/var/lib/broker, not "${store}"`,
  );
}

/** A store's complaint, as the CLI says it. */
function asCommandError(error: unknown): CommandError {
  const message = errorText(error);
  const isThere = /exists already|there is a ledger|another broker/u.test(message);
  return new CommandError(isThere ? "conflict" : "error", message, { cause: error });
}

function verificationView(verification: Verification): View {
  const { file, problems, found } = verification;
  const [first] = problems;
  const table = (): string =>
    properties([
      ["File", file],
      ["State", first === undefined ? "sound" : "damaged"],
      ["Ledger ID", found?.ledgerId],
      ["Commits", found?.commitNumber.toString()],
      ["Reservations", found?.reservations.toString()],
      ["Decisions", found?.decisions.toString()],
      [
        "Audit lines",
        found === undefined ? undefined : `${found.auditLines}, from number ${found.firstAuditLine} on`,
      ],
      ["Last audit hash", found?.lastAuditHash],
      ...problems.map((problem) => ["Problem", problem] as const),
    ]);
  const problem =
    first === undefined
      ? undefined
      : new CommandError(
          "error",
          `the ledger is damaged: ${first}. Restore a copy: brokerctl restore <copy>`,
        );
  return { data: verification, table, names: [file], problem };
}
