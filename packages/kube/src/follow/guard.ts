import { Fault } from "@resource-broker/contract";
import type { MachineTime } from "@resource-broker/runtime";

export interface GuardOptions {
  /** What is guarded, such as "the list of pods". */
  readonly what: string;
  /** The longest silence. */
  readonly limitMs: number;
  /** Ends the guarded request, too. */
  readonly signal: AbortSignal;
  readonly machine: MachineTime;
}

/** Watches over one request: a server that accepts connections but says nothing would hold it for ever. */
export interface Guard {
  readonly signal: AbortSignal;
  /** The server said something. From now on it may be silent for so long; absent: as before. */
  readonly alive: (limitMs?: number) => void;
  /** True: the request was given up because the server was silent. */
  readonly wasSilent: () => boolean;
  /** Runs the request. When it is given up, the reason for that is thrown, whatever the request makes of it. */
  readonly run: <R>(request: () => Promise<R>) => Promise<R>;
}

export function guard(options: GuardOptions): Guard {
  const { machine, what } = options;
  const controller = new AbortController();
  let limitMs = options.limitMs;
  let heardAt = machine.monotonicMs();
  let silent = false;
  let cancel = () => {};

  // The timer is not set anew for each object: it looks, when it fires, how long ago the last one was.
  const look = (): void => {
    const leftMs = limitMs - (machine.monotonicMs() - heardAt);
    if (leftMs > 0) {
      // Timers count whole milliseconds, and may come a little early.
      cancel = machine.after(Math.ceil(leftMs), look);
      return;
    }
    silent = true;
    controller.abort(
      new Fault("unreachable", `the API server sent nothing for ${limitMs / 1000} s during ${what}`),
    );
  };

  return {
    signal: controller.signal,
    alive: (newLimitMs) => {
      heardAt = machine.monotonicMs();
      if (newLimitMs === undefined || newLimitMs === limitMs) return;
      limitMs = newLimitMs;
      cancel();
      cancel = machine.after(limitMs, look);
    },
    wasSilent: () => silent,
    run: async (request) => {
      const giveUp = () => controller.abort(options.signal.reason);
      options.signal.addEventListener("abort", giveUp);
      if (options.signal.aborted) giveUp();
      cancel = machine.after(limitMs, look);
      try {
        controller.signal.throwIfAborted();
        const result = await request();
        controller.signal.throwIfAborted();
        return result;
      } catch (error) {
        controller.signal.throwIfAborted();
        throw error;
      } finally {
        cancel();
        options.signal.removeEventListener("abort", giveUp);
      }
    },
  };
}
