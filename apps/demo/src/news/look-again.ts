import type { Clock } from "@resource-broker/runtime";
import type { Tell } from "./news.ts";

/** As often as the view may change. */
const EVERY_MS = 500;

export interface LookAgainOptions {
  readonly look: () => Promise<void>;
  readonly clock: Pick<Clock, "after">;
  readonly tell: Tell;
}

export interface Looking {
  /** Resolves when the last look is over. */
  readonly stop: () => Promise<void>;
}

/** Polls one after the other. A failure is reported once, and its end is reported once. */
export function lookAgain({ look, clock, tell }: LookAgainOptions): Looking {
  let isStopped = false;
  let trouble = "";
  let cancel = (): void => undefined;
  let current: Promise<void> = Promise.resolve();

  const say = (text: string): void => {
    if (text === trouble || isStopped) return;
    trouble = text;
    tell({ kind: "trouble", text });
  };

  const once = async (): Promise<void> => {
    try {
      await look();
      say("");
    } catch (error) {
      say(`The broker does not answer: ${error instanceof Error ? error.message : String(error)}`);
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
