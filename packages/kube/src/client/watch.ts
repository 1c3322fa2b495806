import type { Clock } from "@resource-broker/runtime";
import { wait } from "../backoff/wait.ts";
import type { HttpClient, StreamReply } from "../http/http-client.ts";
import type { MessageFields } from "../protobuf/fields.ts";
import { type WatchFrame, watchFrames } from "../protobuf/watch-frames.ts";
import { collectionPath } from "../resource/paths.ts";
import type { Resource } from "../resource/resource.ts";
import { statusFault } from "../status/status-fault.ts";
import type { Target } from "../status/target.ts";
import { CALL_TIMEOUT_MS, type Formats, isProtobuf, isWhole, queryOf, refusalOf } from "./caller.ts";
import type { WatchEvent, WatchQuery } from "./client.ts";
import { jsonLines } from "./json-lines.ts";
import { toWatchFrame } from "./watch-frame.ts";

export interface WatchDeps {
  readonly clock: Clock;
  readonly http: HttpClient;
  readonly formats: Formats;
  readonly target: Target;
}

/** One watch, until the server, its timeout or the signal ends it. The signal ends it without an error. */
export async function* watchEvents<T>(
  resource: Resource<T>,
  query: WatchQuery,
  deps: WatchDeps,
): AsyncGenerator<WatchEvent<T>> {
  try {
    const reply = await openWatch(resource, query, deps);
    query.onOpen?.();
    for await (const frames of batchesOf<T>(reply, resource.protobuf)) {
      yield* eventsOf(frames, deps.target, query.signal);
      if (query.signal?.aborted === true) return;
      if (query.coalesceMs !== undefined)
        await wait(query.coalesceMs, { clock: deps.clock, signal: query.signal });
    }
  } catch (error) {
    if (query.signal?.aborted !== true) throw error;
  }
}

async function openWatch<T>(
  resource: Resource<T>,
  query: WatchQuery,
  { http, formats, target }: WatchDeps,
): Promise<StreamReply> {
  const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds, signal } = query;
  const parameters = queryOf({
    watch: "true",
    allowWatchBookmarks: "true",
    resourceVersion,
    timeoutSeconds,
    labelSelector,
    fieldSelector,
  });
  const path = `${collectionPath(resource, namespace)}${parameters}`;
  const reply = await formats.negotiate(resource, (accept) =>
    http.stream({
      method: "GET",
      path,
      accept,
      isRepeatable: true,
      timeoutMs: CALL_TIMEOUT_MS,
      signal,
    }),
  );
  if (isWhole(reply)) throw refusalOf(reply, target);
  return reply;
}

/** The frames of each batch. A frame that cannot be parsed ends the watch after the frames before it were delivered. */
async function* batchesOf<T>(
  reply: StreamReply,
  fields: MessageFields | undefined,
): AsyncGenerator<readonly WatchFrame<T>[]> {
  let frames: WatchFrame<T>[] = [];
  const take = (frame: WatchFrame<T>): void => void frames.push(frame);
  const parser =
    isProtobuf(reply) && fields !== undefined
      ? watchFrames<T>(fields, take)
      : jsonLines((value) => take(toWatchFrame<T>(value)));
  for await (const chunks of reply.bursts()) {
    try {
      for (const chunk of chunks) parser.push(chunk);
    } catch (error) {
      yield frames;
      throw error;
    }
    const ready = frames;
    frames = [];
    yield ready;
  }
}

function* eventsOf<T>(
  frames: readonly WatchFrame<T>[],
  target: Target,
  signal: AbortSignal | undefined,
): Generator<WatchEvent<T>> {
  for (const frame of frames) {
    if (signal?.aborted === true) return;
    yield toEvent(frame, target);
  }
}

function toEvent<T>(frame: WatchFrame<T>, target: Target): WatchEvent<T> {
  if (frame.type === "ERROR") throw statusFault({ status: frame.status }, target);
  return frame;
}
