import { Fault } from "@resource-broker/base";
import { type IdleTimeout, idleTimeout } from "../backoff/idle-timeout.ts";
import type { Selection, WatchEvent } from "../client/client.ts";
import type { ReflectorDeps, ReflectorOptions, Sink } from "./types.ts";

/** The version after which the next watch starts. Undefined: list first. */
export interface WatchPosition {
  version: string | undefined;
}

export interface AttemptOptions<T> {
  readonly options: ReflectorOptions<T>;
  readonly sink: Sink<T>;
  readonly deps: ReflectorDeps;
  readonly name: string;
  readonly signal: AbortSignal;
  /** Updated by events and lists. */
  readonly position: WatchPosition;
}

export interface ListWatchAttempt {
  readonly isList: boolean;
  readonly run: () => Promise<void>;
  /** True: it was aborted by the idle timeout. */
  readonly timedOut: () => boolean;
  /** True: an open watch was aborted by the idle timeout. */
  readonly wentIdle: () => boolean;
}

/** Response timeout. Below the 10 s target for recovery after the server returns, including the pause that follows. */
export const RESPONSE_TIMEOUT_MS = 8_000;
const IDLE_MS = 75_000;
const MIN_WATCH_SECONDS = 300;

/**
 * Lists all objects into the sink. No resourceVersion is set: "0" could return an older state than already seen, and without
 * pages.
 */
export function listAttempt<T>(
  { options, sink, deps, name, signal, position }: AttemptOptions<T>,
  timeoutMs: number,
): ListWatchAttempt {
  const what = `the list of ${name}`;
  const listing = idleTimeout({ what, limitMs: timeoutMs, signal, clock: deps.clock });
  const list = async (): Promise<void> => {
    sink.beginList();
    const query = {
      ...selectionOf(options),
      ...(options.pageSize === undefined ? {} : { pageSize: options.pageSize }),
      signal: listing.signal,
    };
    const { resourceVersion } = await deps.client.list(options.resource, query, (object) => {
      if (listing.signal.aborted) return;
      listing.reset();
      sink.put(object);
    });
    listing.signal.throwIfAborted();
    if (resourceVersion === "") throw new Fault("malformed", `${what} came without a resourceVersion`);
    sink.endList();
    position.version = resourceVersion;
  };
  return { isList: true, run: () => listing.run(list), timedOut: listing.timedOut, wentIdle: () => false };
}

export interface WatchHooks {
  readonly onOpen: () => void;
  /** An event or bookmark moved the position. */
  readonly onProgress: () => void;
}

/** Watches from a version on until the server ends the watch. */
export function watchAttempt<T>(
  { options, sink, deps, name, signal, position }: AttemptOptions<T>,
  from: string,
  hooks: WatchHooks,
): ListWatchAttempt {
  const idleMs = options.idleMs ?? IDLE_MS;
  let isOpen = false;
  const watching = idleTimeout({
    what: `the watch of ${name}`,
    limitMs: RESPONSE_TIMEOUT_MS,
    signal,
    clock: deps.clock,
  });
  const query = {
    ...selectionOf(options),
    resourceVersion: from,
    // Randomized, so that the watches of many agents do not end at the same time.
    timeoutSeconds: MIN_WATCH_SECONDS + Math.floor(deps.random() * (MIN_WATCH_SECONDS + 1)),
    ...(options.coalesceMs === undefined ? {} : { coalesceMs: options.coalesceMs }),
    signal: watching.signal,
    onOpen: () => {
      isOpen = true;
      watching.reset(idleMs);
      hooks.onOpen();
    },
  };
  const watch = async (): Promise<void> => {
    for await (const event of deps.client.watch(options.resource, query)) {
      if (watching.signal.aborted) return;
      applyEvent(event, { sink, position, watching });
      hooks.onProgress();
    }
  };
  const wentIdle = (): boolean => isOpen && watching.timedOut();
  return { isList: false, run: () => watching.run(watch), timedOut: watching.timedOut, wentIdle };
}

interface WatchState<T> {
  readonly sink: Sink<T>;
  readonly position: WatchPosition;
  readonly watching: IdleTimeout;
}

function applyEvent<T>(event: WatchEvent<T>, { sink, position, watching }: WatchState<T>): void {
  watching.reset();
  if (event.type !== "BOOKMARK") {
    // If the sink throws, the event may be lost: list again.
    const before = position.version;
    position.version = undefined;
    if (event.type === "DELETED") sink.remove(event.object);
    else sink.put(event.object);
    position.version = before;
  }
  if (event.resourceVersion !== "") position.version = event.resourceVersion;
}

function selectionOf({ namespace, labelSelector, fieldSelector }: Selection): Selection {
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}
