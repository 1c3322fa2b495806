import type { Clock } from "@resource-broker/base";
import { wait } from "@resource-broker/kube";

const RETRY_MS = 2000;

export interface KeyedWriterOptions<K> {
  /** Writes what is true of this key now. */
  readonly write: (key: K) => Promise<void>;
  /** Between the end of one write and the next one: what changes meanwhile is written once. */
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** A queue of keys that are written later, one after the other. */
export interface KeyedWriter<K> {
  readonly add: (key: K) => void;
  /** Writes all that is left, without pauses, and ends. Gives up at the first failure. */
  readonly drain: () => Promise<void>;
  /** Ends, whatever is left. */
  readonly stop: () => void;
}

export function keyedWriter<K>(options: KeyedWriterOptions<K>): KeyedWriter<K> {
  const { write, pauseMs, clock, onError } = options;
  const due = new Set<K>();
  const stopping = new AbortController();
  let running: Promise<void> | undefined;

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted && due.size > 0) {
      // Pause before writing, so that changes that happen together are written together.
      await wait(pauseMs, { clock, signal: stopping.signal });
      if (!stopping.signal.aborted) await writeNext().catch(retryLater);
    }
    running = undefined;
  };

  const writeNext = async (): Promise<void> => {
    const [key] = due;
    if (key === undefined) return;
    due.delete(key);
    try {
      await write(key);
    } catch (error) {
      due.add(key);
      throw error;
    }
  };

  const retryLater = async (error: unknown): Promise<void> => {
    onError(error);
    await wait(RETRY_MS, { clock, signal: stopping.signal });
  };

  return {
    add: (key) => {
      due.add(key);
      if (!stopping.signal.aborted) running ??= run();
    },
    drain: async () => {
      stopping.abort();
      await running;
      while (due.size > 0) await writeNext();
    },
    stop: () => stopping.abort(),
  };
}
