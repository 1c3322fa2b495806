import { Fault, type FaultCode } from "@resource-broker/contract";
import { backoff } from "../backoff/backoff.ts";
import { toFault, trouble } from "../backoff/trouble.ts";
import { wait } from "../backoff/wait.ts";
import type { Resource } from "../resource/resource.ts";
import type { FollowDeps, Follower, FollowOptions } from "./follower.ts";
import { ANSWER_MS, listRound, type Position, type Round, watchRound } from "./rounds.ts";
import type { Sink } from "./sink.ts";

const MAX_BACKOFF_MS = 5_000;
/** Missing permissions rarely change by themselves. */
const FORBIDDEN_BACKOFF = { minMs: 1_000, maxMs: 30_000 };
/** Maximum pause after a timeout, which was a wait already. */
const AFTER_SILENCE_MS = 1_000;
const MAX_RETRY_AFTER_MS = 30_000;
/** The list timeout grows with each attempt, so that a slow server can complete a list. */
const MAX_LIST_PATIENCE_MS = 60_000;
/** Watches shorter than this are retried with backoff. */
const SHORT_WATCH_MS = 1_000;
/** After this many watches without progress, list again: an event at this version may be unreadable. */
const BARREN_WATCHES = 3;
/** Codes that point to the server or the network rather than to the watch position. */
const BARREN_WATCHES_BY_CODE: Partial<Record<FaultCode, number>> = {
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
export function follow<T>(options: FollowOptions<T>, sink: Sink<T>, deps: FollowDeps): Follower {
  const { machine, log, observer } = deps;
  const name = resourceName(options.resource);
  const stopping = new AbortController();
  const position: Position = { version: undefined };
  const usual = backoff({ maxMs: options.maxBackoffMs ?? MAX_BACKOFF_MS }, { ...deps, ...machine });
  const rare = backoff(FORBIDDEN_BACKOFF, { ...deps, ...machine });
  const troubles = trouble({ log, machine, what: `following ${name}`, fields: { resource: name } });
  const first = firstList(name);
  let listPatienceMs = ANSWER_MS;
  let barrenWatches = 0;
  let failuresInRow = 0;
  let forgottenInRow = 0;
  let running: Promise<void> | undefined;

  const hooks = {
    onOpen: () => {
      usual.works();
      rare.works();
      troubles.ends();
    },
    onProgress: () => {
      barrenWatches = 0;
      failuresInRow = 0;
      forgottenInRow = 0;
    },
  };

  const nextRound = (): Round => {
    const round = { options, sink, deps, name, position, signal: stopping.signal };
    if (position.version === undefined) return listRound(round, listPatienceMs);
    return watchRound(round, position.version, hooks);
  };

  const pauseFor = (fault: Fault, round: Round): number => {
    // The server is up: list at once, without a second pause.
    if (fault.code === "gone" && forgottenInRow++ === 0) return 0;
    const pauseMs = (fault.code === "forbidden" ? rare : usual).failed();
    if (round.wasSilent()) return Math.min(pauseMs, AFTER_SILENCE_MS);
    return Math.max(pauseMs, Math.min(fault.details.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
  };

  const listFailed = (round: Round): void => {
    if (round.wasSilent()) listPatienceMs = Math.min(2 * listPatienceMs, MAX_LIST_PATIENCE_MS);
  };
  const watchFailed = (round: Round, fault: Fault): void => {
    const isGone = fault.code === "gone";
    if (isGone || troubles.now() === undefined) {
      observer?.onRestart?.(name, round.wasSilent() ? "silent" : fault.code);
    }
    const limit = BARREN_WATCHES_BY_CODE[fault.code] ?? BARREN_WATCHES;
    if (Number.isFinite(limit)) barrenWatches++;
    if (isGone || barrenWatches >= limit) position.version = undefined;
  };
  const failed = (round: Round, fault: Fault): void => {
    if (round.isList) listFailed(round);
    else watchFailed(round, fault);
    // A single expired version is normal; repeated ones are reported.
    if (fault.code !== "gone" || failuresInRow > 0) troubles.begins(fault);
    failuresInRow++;
  };

  /**
   * The connection is dead, or there was nothing to send: API servers send no bookmarks without progress notifications of
   * etcd, for up to 10 minutes. A new watch finds out; it is not reported as a failure.
   */
  const askAnew = (): void => observer?.onRestart?.(name, "silent");

  const runRound = async (): Promise<void> => {
    const round = nextRound();
    const beganAt = machine.monotonicMs();
    let pauseMs = 0;
    try {
      await round.run();
      if (round.isList) {
        listPatienceMs = ANSWER_MS;
        barrenWatches = 0;
        first.isWhole();
      } else if (machine.monotonicMs() - beganAt < SHORT_WATCH_MS) {
        pauseMs = usual.failed();
      }
    } catch (error) {
      if (stopping.signal.aborted) return;
      if (round.wasIdle()) return askAnew();
      const fault = toFault(error);
      failed(round, fault);
      pauseMs = pauseFor(fault, round);
    }
    await wait(pauseMs, { machine, signal: stopping.signal });
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) await runRound();
  };

  return {
    start: () => {
      if (!stopping.signal.aborted) running ??= run();
      return first.promise;
    },
    stop: async () => {
      stopping.abort();
      first.neverComes(troubles.now()?.fault);
      await running;
    },
    health: () => {
      const now = troubles.now();
      if (now !== undefined) return { state: "troubled", ...now };
      return { state: first.wasWhole() ? "following" : "starting" };
    },
  };
}

function firstList(name: string) {
  let wasWhole = false;
  let settle: { resolve: () => void; reject: (fault: Fault) => void } | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // Avoids an unhandled rejection when nobody awaits the first list.
  promise.catch(() => undefined);
  return {
    promise,
    wasWhole: () => wasWhole,
    isWhole: () => {
      wasWhole = true;
      settle?.resolve();
    },
    neverComes: (cause: Fault | undefined) => {
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
