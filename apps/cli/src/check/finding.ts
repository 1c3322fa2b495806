import { Fault } from "@resource-broker/base";
import { CommandError } from "../cli/exit-code.ts";

export type FindingStatus = "ok" | "warning" | "failed" | "skipped";

/** What one check found. The shape of `-o json`. */
export interface Finding {
  readonly name: string;
  readonly status: FindingStatus;
  readonly message: string;
  /** What to do about it. */
  readonly remedy?: string;
}

export type Found = Omit<Finding, "name">;

export function ok(message: string): Found {
  return { status: "ok", message };
}

export function warning(message: string, remedy: string): Found {
  return { status: "warning", message, remedy };
}

export function failed(message: string, remedy?: string): Found {
  return { status: "failed", message, ...(remedy === undefined ? {} : { remedy }) };
}

export function skipped(message: string): Found {
  return { status: "skipped", message };
}

/** Runs one check. A CommandError or Fault becomes a failed finding; any other error is a bug and is thrown. */
export async function checked(name: string, run: () => Promise<Found>): Promise<Finding> {
  try {
    return { name, ...(await run()) };
  } catch (error) {
    if (!(error instanceof CommandError) && !(error instanceof Fault)) throw error;
    return { name, ...failed(inOneLine(error.message)) };
  }
}

/** Lines of a message are sentences; not all of them end like one. */
function inOneLine(message: string): string {
  return message.replaceAll(/(?<![.:;,])\n\s*/gu, ". ").replaceAll(/\n\s*/gu, " ");
}
