import type { Log } from "@resource-broker/base";
import { StatusError } from "../api/status-error.ts";

/** Writes of the cluster's own controllers: who loses a race hears of it by the next change. */
export function attempt(log: Log | undefined, action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const isRace = error.code === 404 || error.code === 409;
    if (!isRace) log?.warn({ status: error.status }, "the simulated cluster refuses its own controller");
  }
}
