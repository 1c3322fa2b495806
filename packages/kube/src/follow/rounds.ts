import { Fault } from "@resource-broker/contract";
import type { Selection, WatchEvent } from "../client/client.ts";
import type { FollowDeps, FollowOptions } from "./follower.ts";
import { type Guard, guard } from "./guard.ts";
import type { Sink } from "./sink.ts";

/** How far the follower is: after which version the next watch begins. Undefined: nothing to go on from, so list. */
export interface Position {
  version: string | undefined;
}

export interface RoundOptions<T> {
  readonly options: FollowOptions<T>;
  readonly sink: Sink<T>;
  readonly deps: FollowDeps;
  readonly name: string;
  readonly signal: AbortSignal;
  /** Moved along by what comes in. */
  readonly position: Position;
}

/** One try of a list or of a watch. */
export interface Round {
  readonly isList: boolean;
  readonly run: () => Promise<void>;
  /** True: it was given up because the server was silent. */
  readonly wasSilent: () => boolean;
  /** True: the server had accepted the watch, and then it was silent. */
  readonly wasIdle: () => boolean;
}

/** Below the 10 s in which a follower acts again after its server's return, with room for the pause that follows. */
export const ANSWER_MS = 8_000;
const IDLE_MS = 75_000;
const LEAST_WATCH_SECONDS = 300;

/**
 * Lists everything into the sink. No version is asked for: the newest is wanted, since an older one, as "0" would
 * allow, could take the sink back behind what it has seen, and would come in one piece instead of in pages.
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
    // Spread, so that the watches of a fleet do not all end at once.
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
    // A sink that throws may have lost the event: only a list can mend that.
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
