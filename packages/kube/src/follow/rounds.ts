import { Fault } from "@resource-broker/contract";
import type { Selection, WatchEvent } from "../client/client.ts";
import type { FollowDeps, FollowOptions } from "./follower.ts";
import { type Guard, guard } from "./guard.ts";
import type { Sink } from "./sink.ts";

/** The version after which the next watch starts. Undefined: list first. */
export interface Position {
  version: string | undefined;
}

export interface RoundOptions<T> {
  readonly options: FollowOptions<T>;
  readonly sink: Sink<T>;
  readonly deps: FollowDeps;
  readonly name: string;
  readonly signal: AbortSignal;
  /** Updated by events and lists. */
  readonly position: Position;
}

/** One attempt of a list or watch. */
export interface Round {
  readonly isList: boolean;
  readonly run: () => Promise<void>;
  /** True: it was aborted by the idle timeout. */
  readonly wasSilent: () => boolean;
  /** True: an open watch was aborted by the idle timeout. */
  readonly wasIdle: () => boolean;
}

/** Response timeout. Below the 10 s target for recovery after the server returns, including the pause that follows. */
export const ANSWER_MS = 8_000;
const IDLE_MS = 75_000;
const LEAST_WATCH_SECONDS = 300;

/**
 * Lists all objects into the sink. No resourceVersion is set: "0" could return an older state than already seen, and without
 * pages.
 */
export function listRound<T>(
  { options, sink, deps, name, signal, position }: RoundOptions<T>,
  patienceMs: number,
): Round {
  const what = `the list of ${name}`;
  const listing = guard({ what, limitMs: patienceMs, signal, machine: deps.machine });
  const list = async (): Promise<void> => {
    sink.beginList();
    const query = {
      ...selectionOf(options),
      ...(options.pageSize === undefined ? {} : { pageSize: options.pageSize }),
      signal: listing.signal,
    };
    const { resourceVersion, count } = await deps.client.list(options.resource, query, (object) => {
      if (listing.signal.aborted) return;
      listing.alive();
      sink.put(object);
    });
    listing.signal.throwIfAborted();
    if (resourceVersion === "") throw new Fault("malformed", `${what} came without a resourceVersion`);
    sink.endList();
    position.version = resourceVersion;
    deps.observer?.onSynced?.(name, count);
  };
  return { isList: true, run: () => listing.run(list), wasSilent: listing.wasSilent, wasIdle: () => false };
}

export interface WatchHooks {
  readonly onOpen: () => void;
  /** An event or bookmark moved the position. */
  readonly onProgress: () => void;
}

/** Watches from a version on until the server ends the watch. */
export function watchRound<T>(
  { options, sink, deps, name, signal, position }: RoundOptions<T>,
  from: string,
  hooks: WatchHooks,
): Round {
  const idleMs = options.idleMs ?? IDLE_MS;
  let isOpen = false;
  const watching = guard({ what: `the watch of ${name}`, limitMs: ANSWER_MS, signal, machine: deps.machine });
  const query = {
    ...selectionOf(options),
    resourceVersion: from,
    // Randomized, so that the watches of many agents do not end at the same time.
    timeoutSeconds: LEAST_WATCH_SECONDS + Math.floor(deps.random() * (LEAST_WATCH_SECONDS + 1)),
    ...(options.gatherMs === undefined ? {} : { gatherMs: options.gatherMs }),
    signal: watching.signal,
    onOpen: () => {
      isOpen = true;
      watching.alive(idleMs);
      hooks.onOpen();
    },
  };
  const watch = async (): Promise<void> => {
    for await (const event of deps.client.watch(options.resource, query)) {
      if (watching.signal.aborted) return;
      take(event, { sink, position, watching });
      hooks.onProgress();
    }
  };
  const wasIdle = (): boolean => isOpen && watching.wasSilent();
  return { isList: false, run: () => watching.run(watch), wasSilent: watching.wasSilent, wasIdle };
}

interface Taking<T> {
  readonly sink: Sink<T>;
  readonly position: Position;
  readonly watching: Guard;
}

function take<T>(event: WatchEvent<T>, { sink, position, watching }: Taking<T>): void {
  watching.alive();
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
