import { type ChangesEventDTO, PATH } from "@resource-broker/contract";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { type Fetch, PROTOCOL, readAnswer } from "../net/api-client.ts";
import type { Timers } from "../time/clock.ts";
import { createListeners } from "./listeners.ts";

/** `stale`: nothing was heard for 12 s, so what is shown may be old. */
export type LiveStatus = "connecting" | "live" | "reconnecting" | "stale";

export type Changes = ChangesEventDTO;

/** What a list needs to know: rows that changed, or that it must be read again. */
export type LiveUpdate =
  | { readonly kind: "changes"; readonly changes: Changes }
  | { readonly kind: "reload" };

export interface LiveConnection {
  readonly status: () => LiveStatus;
  readonly onStatus: (listener: () => void) => () => void;
  readonly onUpdate: (listener: (update: LiveUpdate) => void) => () => void;
  readonly start: () => void;
  readonly stop: () => void;
}

export interface LiveDeps {
  readonly fetch: Fetch;
  readonly timers: Timers;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly onSignedOut: () => void;
}

const STALE_AFTER_MS = 12_000;
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 5_000;

export function createLiveConnection({ fetch, timers, random, onSignedOut }: LiveDeps): LiveConnection {
  const statusListeners = createListeners();
  const updateListeners = createListeners<[update: LiveUpdate]>();
  let status: LiveStatus = "connecting";
  let lastEventId: string | null = null;
  let lastReceivedAt = timers.now();
  let failures = 0;
  let attempt: AbortController | undefined;
  let cancelRetry = (): void => undefined;
  let cancelWatch = (): void => undefined;

  const setStatus = (next: LiveStatus): void => {
    if (status === next) return;
    status = next;
    statusListeners.notify();
  };

  const handleEvent = ({ event, id, data }: EventSourceMessage): void => {
    if (id !== undefined) lastEventId = id;
    if (event === "changes") updateListeners.notify({ kind: "changes", changes: readChanges(data) });
    if (event === "reset") updateListeners.notify({ kind: "reload" });
    if (event === "hello") handleHello();
  };

  /**
   * Lists are read again after every hello: changes of soft state are not replayed, and a list that was
   * read before the first hello may have missed changes.
   */
  const handleHello = (): void => {
    failures = 0;
    setStatus("live");
    updateListeners.notify({ kind: "reload" });
  };

  const listen = async (signal: AbortSignal): Promise<void> => {
    const headers = {
      ...PROTOCOL,
      Accept: "text/event-stream",
      ...(lastEventId === null ? {} : { "Last-Event-ID": lastEventId }),
    };
    const response = await fetch(PATH.events, { headers, signal, cache: "no-store" });
    if (response.status === 401) return onSignedOut();
    if (!response.ok || response.body === null) return undefined;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    // EventSource would hide the comments that tell a silent connection from a dead one.
    const parser = createParser({ onEvent: handleEvent });
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      lastReceivedAt = timers.now();
      parser.feed(piece.value);
    }
    return undefined;
  };

  const connect = (): void => {
    const mine = new AbortController();
    attempt = mine;
    const over = (): void => {
      if (attempt !== mine) return;
      if (status === "live" || status === "connecting") setStatus("reconnecting");
      const pauseMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** failures);
      failures += 1;
      cancelRetry = timers.after(pauseMs * (0.75 + random() / 2), connect);
    };
    // The reason does not matter: the connection is retried until the page is closed.
    listen(mine.signal).then(over, over);
  };

  const watch = (): void => {
    const quietMs = timers.now() - lastReceivedAt;
    if (quietMs >= STALE_AFTER_MS) {
      setStatus("stale");
      renew();
    }
    cancelWatch = timers.after(quietMs >= STALE_AFTER_MS ? STALE_AFTER_MS : STALE_AFTER_MS - quietMs, watch);
  };

  /** A connection that says nothing is given up for a new one. */
  const renew = (): void => {
    cancelRetry();
    attempt?.abort();
    connect();
  };

  const stop = (): void => {
    const last = attempt;
    attempt = undefined;
    last?.abort();
    cancelRetry();
    cancelWatch();
  };

  return {
    status: () => status,
    onStatus: statusListeners.add,
    onUpdate: updateListeners.add,
    start: () => {
      lastReceivedAt = timers.now();
      watch();
      connect();
    },
    stop,
  };
}

function readChanges(data: string): Changes {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- pages and broker are built and shipped together
  return readAnswer(data) as Changes;
}
