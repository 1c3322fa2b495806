import type { ServerResponse } from "node:http";
import type { Clock } from "@resource-broker/base";
import type { ClusterApi, CollectionTarget, Watch, WatchChange, WatchQuery } from "../api/cluster-api.ts";
import { internalError, StatusError } from "../api/statuses.ts";
import type { JsonObject } from "../json.ts";
import type { Gate } from "./gate.ts";
import type { StreamAnswer } from "./http.ts";
import type { WatchEncoder } from "./render.ts";

export interface WatchRequest {
  readonly target: CollectionTarget;
  readonly query: WatchQuery;
  readonly encoder: WatchEncoder;
  readonly hasBookmarks: boolean;
  /** True: a bookmark says when the objects that exist have all been sent. */
  readonly marksInitialEnd: boolean;
  readonly timeoutSeconds: number;
}

export interface WatchDeps {
  readonly api: ClusterApi;
  readonly clock: Clock;
  readonly gate: Gate;
}

const BOOKMARK_MS = 10_000;
/** So long before its end a watch is told how far it has come, so that the next one need not go back. */
const LAST_BOOKMARK_MS = 2_000;
/** Whoever reads more slowly than this much piles up has lost touch and must list again. */
const MOST_UNSENT_BYTES = 64 * 1024 * 1024;

export function watchAnswer(request: WatchRequest, deps: WatchDeps): StreamAnswer {
  return {
    kind: "stream",
    contentType: request.encoder.contentType,
    run: (response) => runWatch(response, request, deps),
  };
}

function runWatch(response: ServerResponse, request: WatchRequest, { api, clock, gate }: WatchDeps): void {
  const { encoder } = request;
  const undo: (() => void)[] = [];
  const out = heldWhilePaused(response, gate);
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    for (const action of undo) action();
    out.end();
  };
  const send = (type: WatchChange["type"], object: JsonObject): void => {
    if (isOver) return;
    out.write(encoder.frame(type, object));
    if (response.writableLength > MOST_UNSENT_BYTES) response.destroy();
  };
  const fail = (error: unknown): void => {
    const known = error instanceof StatusError ? error : internalError(String(error));
    out.write(encoder.failure(known.status));
    end();
  };
  const bookmark = (annotations?: JsonObject): void => {
    if (!isOver) out.write(encoder.bookmark(api.resourceVersion(), annotations));
  };
  /** As on a real server, nothing is said where nothing has happened anywhere since the watch began. */
  const remind = (): void => {
    if (api.resourceVersion() !== beganAt) bookmark();
  };
  const remindLater = (): void => {
    const cancel = clock.after(BOOKMARK_MS, () => {
      remind();
      undo.splice(undo.indexOf(cancel), 1);
      remindLater();
    });
    undo.push(cancel);
  };
  const watch = begin(() =>
    api.watch(request.target, request.query, ({ type, object }) => attempt(() => send(type, object), fail)),
  );
  if (watch instanceof StatusError) return fail(watch);
  if (isOver) return watch.stop();
  const beganAt = api.resourceVersion();
  const lifeMs = request.timeoutSeconds * 1000;
  undo.push(watch.stop, clock.after(lifeMs, end));
  response.on("close", end);
  if (request.marksInitialEnd) bookmark({ "k8s.io/initial-events-end": "true" });
  if (!request.hasBookmarks) return;
  remindLater();
  if (lifeMs > LAST_BOOKMARK_MS) undo.push(clock.after(lifeMs - LAST_BOOKMARK_MS, remind));
}

/** A version that is forgotten is told inside the stream, as the real server does; anything else is refused before it. */
function begin(open: () => Watch): Watch | StatusError {
  try {
    return open();
  } catch (error) {
    if (error instanceof StatusError && error.code === 410) return error;
    throw error;
  }
}

function attempt(action: () => void, fail: (error: unknown) => void): void {
  try {
    action();
  } catch (error) {
    fail(error);
  }
}

interface Output {
  readonly write: (frame: string | Uint8Array) => void;
  readonly end: () => void;
}

/** A paused server sends nothing; what happens meanwhile follows at once when it goes on. */
function heldWhilePaused(response: ServerResponse, gate: Gate): Output {
  let held: (() => void)[] = [];
  let forget = (): void => undefined;
  response.once("close", () => forget());
  const release = (): void => {
    const actions = held;
    held = [];
    for (const action of actions) action();
  };
  const perform = (action: () => void): void => {
    if (!gate.isPaused() && held.length === 0) return action();
    if (held.length === 0) forget = gate.onResume(release);
    held.push(action);
  };
  return {
    write: (frame) => perform(() => response.write(frame)),
    end: () => perform(() => response.end()),
  };
}
