import type { Clock } from "@resource-broker/base";
import type { OnUpdate } from "./update.ts";

/** As often as the view may change. */
const EVERY_MS = 500;

export interface PollingOptions {
  readonly poll: () => Promise<void>;
  readonly clock: Pick<Clock, "after">;
  readonly onUpdate: OnUpdate;
}

export interface Polling {
  /** Resolves when the last look is over. */
  readonly stop: () => Promise<void>;
}

/** Polls one after the other. A failure is reported once, and its end is reported once. */
export function startPolling({ poll, clock, onUpdate }: PollingOptions): Polling {
  let isStopped = false;
  let problem = "";
  let cancel = (): void => undefined;
  let current: Promise<void> = Promise.resolve();

  const reportProblem = (text: string): void => {
    if (text === problem || isStopped) return;
    problem = text;
    onUpdate({ kind: "trouble", text });
  };

  const once = async (): Promise<void> => {
    try {
      await poll();
      reportProblem("");
    } catch (error) {
      reportProblem(`The broker does not answer: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (!isStopped) cancel = clock.after(EVERY_MS, next);
  };
  const next = (): void => {
    current = once();
  };
  next();
  return {
    stop: async () => {
      isStopped = true;
      cancel();
      await current;
    },
  };
}
