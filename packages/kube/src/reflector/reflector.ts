import { Fault, type FaultCode, toFault } from "@resource-broker/base";
import { backoff } from "../backoff/backoff.ts";
import { failureReporter } from "../backoff/failure-reporter.ts";
import { loop } from "../backoff/loop.ts";
import type { Resource } from "../resource/resource.ts";
import {
  type ListWatchAttempt,
  listAttempt,
  RESPONSE_TIMEOUT_MS,
  type WatchPosition,
  watchAttempt,
} from "./attempts.ts";
import type { Reflector, ReflectorDeps, ReflectorOptions, Sink } from "./types.ts";

const MAX_BACKOFF_MS = 5_000;
/** Missing permissions rarely change by themselves. */
const FORBIDDEN_BACKOFF = { minMs: 1_000, maxMs: 30_000 };
/** Maximum pause after a timeout, which was a wait already. */
const AFTER_TIMEOUT_MS = 1_000;
const MAX_RETRY_AFTER_MS = 30_000;
/** The list timeout grows with each attempt, so that a slow server can complete a list. */
const MAX_LIST_TIMEOUT_MS = 60_000;
/** Watches shorter than this are retried with backoff. */
const SHORT_WATCH_MS = 1_000;
/** After this many watches without progress, list again: an event at this version may be unreadable. */
const MAX_FAILED_WATCHES = 3;
/** Codes that point to the server or the network rather than to the watch position. */
const MAX_FAILED_WATCHES_BY_CODE: Partial<Record<FaultCode, number>> = {
  unreachable: Number.POSITIVE_INFINITY,
  "rate-limited": Number.POSITIVE_INFINITY,
  forbidden: Number.POSITIVE_INFINITY,
  unauthenticated: Number.POSITIVE_INFINITY,
  // A server restored from a backup returns this for versions in its future.
  overloaded: 10,
};

/**
 * Lists and watches a resource until it is stopped. After an error it continues from the last version, or lists again when that
 * version is gone. It stores no objects.
 */
export function reflector<T>(options: ReflectorOptions<T>, sink: Sink<T>, deps: ReflectorDeps): Reflector {
  const { clock, log, observer } = deps;
  const name = resourceName(options.resource);
  const position: WatchPosition = { version: undefined };
  const normalBackoff = backoff({ maxMs: options.maxBackoffMs ?? MAX_BACKOFF_MS }, { ...deps, ...clock });
  const forbiddenBackoff = backoff(FORBIDDEN_BACKOFF, { ...deps, ...clock });
  const reporter = failureReporter({
    log,
    clock,
    what: `following ${name}`,
    fields: { resource: name },
  });
  const first = firstList(name);
  let listTimeoutMs = RESPONSE_TIMEOUT_MS;
  let failedWatches = 0;
  let failuresInRow = 0;
  let goneInRow = 0;

  const hooks = {
    onOpen: () => {
      normalBackoff.succeeded();
      forbiddenBackoff.succeeded();
      reporter.recovered();
    },
    onProgress: () => {
      failedWatches = 0;
      failuresInRow = 0;
      goneInRow = 0;
    },
  };

  const nextAttempt = (signal: AbortSignal): ListWatchAttempt => {
    const attempt = { options, sink, deps, name, position, signal };
    if (position.version === undefined) return listAttempt(attempt, listTimeoutMs);
    return watchAttempt(attempt, position.version, hooks);
  };

  const pauseFor = (fault: Fault, attempt: ListWatchAttempt): number => {
    // The server is up: list at once, without a second pause.
    if (fault.code === "gone" && goneInRow++ === 0) return 0;
    const pauseMs = (fault.code === "forbidden" ? forbiddenBackoff : normalBackoff).failed();
    if (attempt.timedOut()) return Math.min(pauseMs, AFTER_TIMEOUT_MS);
    return Math.max(pauseMs, Math.min(fault.details.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
  };

  const listFailed = (attempt: ListWatchAttempt): void => {
    if (attempt.timedOut()) listTimeoutMs = Math.min(2 * listTimeoutMs, MAX_LIST_TIMEOUT_MS);
  };
  const watchFailed = (attempt: ListWatchAttempt, fault: Fault): void => {
    const isGone = fault.code === "gone";
    if (isGone || reporter.current() === undefined) {
      observer?.onRestart?.(name, attempt.timedOut() ? "silent" : fault.code);
    }
    const limit = MAX_FAILED_WATCHES_BY_CODE[fault.code] ?? MAX_FAILED_WATCHES;
    if (Number.isFinite(limit)) failedWatches++;
    if (isGone || failedWatches >= limit) position.version = undefined;
  };
  const failed = (attempt: ListWatchAttempt, fault: Fault): void => {
    if (attempt.isList) listFailed(attempt);
    else watchFailed(attempt, fault);
    // A single expired version is normal; repeated ones are reported.
    if (fault.code !== "gone" || failuresInRow > 0) reporter.failed(fault);
    failuresInRow++;
  };

  /**
   * The connection is dead, or there was nothing to send: API servers send no bookmarks without progress notifications of
   * etcd, for up to 10 minutes. A new watch finds out; it is not reported as a failure.
   */
  const restartIdleWatch = (): void => observer?.onRestart?.(name, "silent");

  const runAttempt = async (signal: AbortSignal): Promise<number> => {
    const attempt = nextAttempt(signal);
    const beganAt = clock.monotonicMs();
    try {
      await attempt.run();
    } catch (error) {
      if (signal.aborted) return 0;
      if (attempt.wentIdle()) {
        restartIdleWatch();
        return 0;
      }
      const fault = toFault(error);
      failed(attempt, fault);
      return pauseFor(fault, attempt);
    }
    if (!attempt.isList) return clock.monotonicMs() - beganAt < SHORT_WATCH_MS ? normalBackoff.failed() : 0;
    listTimeoutMs = RESPONSE_TIMEOUT_MS;
    failedWatches = 0;
    first.complete();
    return 0;
  };
  const attempts = loop({ clock, round: runAttempt });

  return {
    start: () => {
      attempts.start();
      return first.promise;
    },
    stop: async () => {
      const stopped = attempts.stop();
      first.cancel(reporter.current()?.fault);
      await stopped;
    },
    health: () => {
      const now = reporter.current();
      if (now !== undefined) return { state: "failing", ...now };
      return { state: first.hasCompleted() ? "synced" : "starting" };
    },
  };
}

function firstList(name: string) {
  let isComplete = false;
  let settle: { resolve: () => void; reject: (fault: Fault) => void } | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // Avoids an unhandled rejection when nobody awaits the first list.
  promise.catch(() => undefined);
  return {
    promise,
    hasCompleted: () => isComplete,
    complete: () => {
      isComplete = true;
      settle?.resolve();
    },
    cancel: (cause: Fault | undefined) => {
      const message = `the reflector of ${name} was stopped before its first list was complete`;
      settle?.reject(
        new Fault("unreachable", cause === undefined ? message : `${message}: ${cause.message}`, { cause }),
      );
    },
  };
}

function resourceName({ group, plural }: Resource<unknown>): string {
  return group === "" ? plural : `${plural}.${group}`;
}
