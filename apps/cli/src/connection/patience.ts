import { Fault } from "@resource-broker/base";
import type { Host } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";

/** A broker that restarts, or changes its leader, is back by then. */
const PATIENCE_MS = 5 * 60_000;
const PAUSE_MS = 10_000;

/** Repeats a look of a command that may wait for hours while the broker cannot answer, for five minutes or until `deadline`. */
export async function patiently<T>(
  look: () => Promise<T>,
  host: Host,
  deadline = Number.POSITIVE_INFINITY,
): Promise<T> {
  const giveUpAt = Math.min(deadline, host.now() + PATIENCE_MS);
  for (let attempt = 0; ; attempt++) {
    try {
      return await look();
    } catch (error) {
      if (!mayPass(error) || host.now() >= giveUpAt) throw error;
      if (attempt === 0) host.note(`The broker cannot answer now; it is asked again: ${messageOf(error)}\n`);
      await host.pause(Math.min(PAUSE_MS, giveUpAt - host.now()));
    }
  }
}

function mayPass(error: unknown): boolean {
  if (error instanceof Fault) return error.retry;
  return error instanceof CommandError && (error.exit === "error" || error.exit === "timeout");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
