import { Fault } from "@resource-broker/contract";
import type { MachineTime } from "@resource-broker/runtime";

export interface GuardOptions {
  /** Name of the request, such as "the list of pods". */
  readonly what: string;
  /** Idle timeout. */
  readonly limitMs: number;
  /** Also aborts the request. */
  readonly signal: AbortSignal;
  readonly machine: MachineTime;
}

/** Idle timeout of one request: aborts it when the server sends nothing for too long. */
export interface Guard {
  readonly signal: AbortSignal;
  /** The server sent something: restarts the timeout, optionally with a new limit. */
  readonly alive: (limitMs?: number) => void;
  /** True: the request was aborted by the timeout. */
  readonly wasSilent: () => boolean;
  /** Runs the request. When it is aborted, throws the reason of the abort. */
  readonly run: <R>(request: () => Promise<R>) => Promise<R>;
}

export function guard(options: GuardOptions): Guard {
  const { machine, what } = options;
  const controller = new AbortController();
  let limitMs = options.limitMs;
  let heardAt = machine.monotonicMs();
  let silent = false;
  let cancel = () => {};

  // The timer is not restarted for each object: when it fires, it checks the time since the last one.
  const look = (): void => {
    const leftMs = limitMs - (machine.monotonicMs() - heardAt);
    if (leftMs > 0) {
      // Timers have millisecond resolution and may fire early.
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
