import { StringDecoder } from "node:string_decoder";
import { type Clock, Fault, isRecord } from "@resource-broker/base";
import { wait } from "../backoff/backoff.ts";
import type { HttpClient, StreamReply } from "../http/http-client.ts";
import type { MessageFields } from "../protobuf/fields.ts";
import { type WatchFrame, watchFrames } from "../protobuf/watch-frames.ts";
import { collectionPath, type Resource } from "../resource/resource.ts";
import { statusFault, type Target, toStatus } from "../status/status-fault.ts";
import type { WatchEvent, WatchQuery } from "./client.ts";
import { CALL_TIMEOUT_MS, type Formats, isProtobuf, isWhole, queryOf, refusalOf } from "./replies.ts";

/** As large as a frame of Kubernetes' own clients may be. */
const LONGEST_LINE = 16 * 1024 * 1024;

/** Splits a byte stream into lines and parses each as JSON. Chunks may end inside a character. */
export function jsonLines(onValue: (value: unknown) => void): { readonly push: (chunk: Buffer) => void } {
  const decoder = new StringDecoder("utf8");
  let parts: string[] = [];
  let length = 0;
  const take = (text: string): void => {
    parts.push(text);
    length += text.length;
    if (length > LONGEST_LINE) {
      throw new Fault("malformed", `the API server sent a watch event of more than ${LONGEST_LINE} letters`);
    }
  };
  const finish = (): void => {
    const line = parts.length === 1 ? (parts[0] ?? "") : parts.join("");
    parts = [];
    length = 0;
    if (line.trim() !== "") onValue(parse(line));
  };
  return {
    push: (chunk) => {
      const text = decoder.write(chunk);
      let start = 0;
      for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
        take(text.slice(start, end));
        finish();
        start = end + 1;
      }
      if (start < text.length) take(text.slice(start));
    },
  };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new Fault("malformed", "the API server sent a watch event that is not JSON", { cause: error });
  }
}

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

/** One line of a watch in JSON. */
function toWatchFrame<T>(value: unknown): WatchFrame<T> {
  const [type, object] = isRecord(value) ? [value["type"], value["object"]] : [];
  if (type === "ERROR") return { type, status: toStatus(object) ?? { message: "the watch failed" } };
  const resourceVersion = versionOf(object);
  if (type === "BOOKMARK") return { type, resourceVersion };
  if ((type === "ADDED" || type === "MODIFIED" || type === "DELETED") && isRecord(object)) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the resource says what its server sends
    return { type, object: object as T, resourceVersion };
  }
  throw new Fault("malformed", `the API server sent an unknown watch event: ${String(type)}`);
}

function versionOf(object: unknown): string {
  const metadata = isRecord(object) ? object["metadata"] : undefined;
  const version = isRecord(metadata) ? metadata["resourceVersion"] : undefined;
  return typeof version === "string" ? version : "";
}
