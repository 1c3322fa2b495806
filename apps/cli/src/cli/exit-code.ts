import { closest } from "@resource-broker/base";

/** The exit codes of brokerctl. They are part of its interface: new ones may be added, none is changed. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: "done" },
  error: { code: 1, meaning: "something went wrong; the message says what" },
  usage: { code: 2, meaning: "the command line is wrong" },
  unsatisfiable: { code: 3, meaning: "no cluster can lend what was asked for" },
  timeout: { code: 4, meaning: "it took too long" },
  auth: { code: 5, meaning: "not allowed, or the certificate was refused" },
  conflict: { code: 6, meaning: "conflict with the current state" },
} as const;

export type Exit = keyof typeof EXIT_CODES;

/** The CLI's one error class: a message for a person, and what the exit status should be. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exit: Exit;

  constructor(exit: Exit, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.exit = exit;
  }
}

/** `; did you mean certs?`, or nothing when no known word is close. */
export function didYouMean(word: string, known: readonly string[], show = (name: string) => name): string {
  const best = closest(word, known);
  return best === undefined ? "" : `; did you mean ${show(best)}?`;
}
