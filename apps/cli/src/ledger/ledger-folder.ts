import { CommandError } from "../cli/exit-code.ts";

/** The folder in `sqlite:<folder>`: the one kind of store whose files can be handled from outside. */
export function ledgerFolder(store: string): string {
  const [, folder] = /^sqlite:(.+)$/u.exec(store) ?? [];
  if (folder === undefined) {
    throw new CommandError(
      "usage",
      `--store must name a folder, for example sqlite:/var/lib/broker, not "${store}"`,
    );
  }
  return folder;
}

/** A store's complaint, as the CLI says it. */
export function asCommandError(error: unknown): CommandError {
  const message = error instanceof Error ? error.message : String(error);
  const isThere = /exists already|there is a ledger|another broker/u.test(message);
  return new CommandError(isThere ? "conflict" : "error", message, { cause: error });
}
