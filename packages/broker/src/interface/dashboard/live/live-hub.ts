import type { ServerResponse } from "node:http";
import { type Clock, Fault } from "@resource-broker/base";
import type { UiEvent } from "@resource-broker/contract/dashboard";
import type { Committed, Engine } from "../../../engine/engine.ts";
import { hasAdvertised } from "../../shared/advertised-account.ts";
import type { DashboardLimits } from "../ports.ts";
import { clusterView } from "../views/cluster-view.ts";
import { reservationView } from "../views/reservation-view.ts";
import { AdvertisementWatch } from "./advertisement-watch.ts";
import { type Changed, ChangeLog, changedBy, PendingChanges } from "./changed.ts";

/** Nothing happened, and the connection works. */
const HEARTBEAT = ": alive\n\n";

/** How soon a browser calls again when it was cut off. */
const RETRY = "retry: 1000\n\n";

const FLUSH_MS = 200;
const POLL_MS = 1000;
const POLLS_PER_HEARTBEAT = 4;
const MAX_ROWS = 200;

export interface LiveReader {
  /** Of the session it belongs to. */
  readonly sessionId: string;
  /** The last event it has seen. */
  readonly lastEventId: string | undefined;
  /** False once its session has ended; then its stream is closed. */
  readonly isAllowed: () => boolean;
}

/** Sends changes to all open pages. */
export interface LiveHub {
  /** Throws a Fault where too many are open; the answer begins only after that. */
  readonly open: (reader: LiveReader) => (response: ServerResponse) => void;
  readonly committed: (commit: Committed) => void;
  readonly size: () => number;
  readonly stop: () => void;
}

export interface LiveHubDeps {
  readonly engine: Engine;
  readonly clock: Pick<Clock, "after">;
  /** Headers of a reply that is written bit by bit. */
  readonly headers: () => readonly string[];
  readonly limits: Pick<
    DashboardLimits,
    "changesRemembered" | "maxStreams" | "maxStreamsPerSession" | "maxStreamBufferBytes"
  >;
  /** Why this replica may not publish ledger data. Absent: there is only one process. */
  readonly notLeading?: (() => unknown) | undefined;
}

export function createLiveHub(deps: LiveHubDeps): LiveHub {
  const { engine, clock, headers, limits } = deps;
  const log = new ChangeLog(limits.changesRemembered, { commit: engine.commitNumber, at: engine.now() });
  const readers = new Map<ServerResponse, LiveReader>();
  let watch = new AdvertisementWatch();
  let pending = new PendingChanges();
  /** The last commit that pages have received: a page that reconnects resumes after it. */
  let publishedCommit = engine.commitNumber;
  let cancelFlush: (() => void) | undefined;
  let cancelPoll: (() => void) | undefined;
  let polls = 0;

  const committed = (commit: Committed): void => {
    const changed = changedBy(commit, engine.ledger);
    log.add(commit.number, commit.at, changed);
    if (readers.size === 0) publishedCommit = commit.number;
    else collect(changed);
  };

  const collect = (changed: Changed): void => {
    pending.add(changed);
    cancelFlush ??= clock.after(FLUSH_MS, flush);
  };

  const flush = (): void => {
    cancelFlush = undefined;
    const changed = pending;
    pending = new PendingChanges();
    publishedCommit = engine.commitNumber;
    if (changed.size > 0) writeToAll(eventText(changesEvent(changed, engine), publishedCommit));
  };

  const poll = (): void => {
    cancelPoll = clock.after(POLL_MS, poll);
    // Another replica may lead: the local state may be outdated.
    if (deps.notLeading?.() !== undefined) return;
    const clusters = watch.poll(engine.ledger, { now: engine.now(), policy: engine.policy });
    if (clusters.size > 0) collect({ clusters, reservations: new Set(), decisions: [] });
    if (++polls % POLLS_PER_HEARTBEAT === 0) writeToAll(HEARTBEAT);
  };

  const writeToAll = (text: string): void => {
    for (const [response, reader] of readers) write(response, reader, text);
  };

  const write = (response: ServerResponse, { isAllowed }: LiveReader, text: string): void => {
    if (!isAllowed()) response.end();
    else if (!response.destroyed && !response.writableEnded) response.write(text);
    // A page that does not read is disconnected; it resumes when it reconnects.
    if (response.writableLength > limits.maxStreamBufferBytes) response.destroy();
  };

  const begin = (response: ServerResponse, reader: LiveReader): void => {
    response.writeHead(200, [...headers(), "Content-Type", "text/event-stream", "Connection", "close"]);
    readers.set(response, reader);
    response.on("close", () => leave(response));
    const { ledgerId } = engine;
    const hello: UiEvent = { event: "hello", data: { commit: publishedCommit, ledgerID: ledgerId } };
    const { lastEventId } = reader;
    // A returning page keeps its last event id until it has received the missed changes: it may be disconnected before.
    const helloText = eventText(hello, lastEventId === undefined ? publishedCommit : undefined);
    write(response, reader, `${RETRY}${helloText}`);
    if (lastEventId !== undefined) write(response, reader, missedText(lastEventId));
    if (cancelPoll !== undefined) return;
    watch = new AdvertisementWatch();
    poll();
  };

  const leave = (response: ServerResponse): void => {
    readers.delete(response);
    if (readers.size > 0) return;
    cancelPoll?.();
    cancelPoll = undefined;
    cancelFlush?.();
    flush();
  };

  /** The changes that a page missed, up to the last published commit. Pending changes follow with the next event. */
  const missedText = (lastEventId: string): string => {
    const last = /^[0-9]{1,15}$/.test(lastEventId) ? Number(lastEventId) : Number.NaN;
    const missed = last <= publishedCommit ? log.between(last, publishedCommit) : undefined;
    if (missed === undefined)
      return eventText({ event: "reset", data: { commit: publishedCommit } }, publishedCommit);
    const { stalenessMs } = engine.policy;
    for (const { clusterId, receivedAt } of engine.ledger.accounts.values()) {
      // The cluster advertised since then, or became stale.
      const staleAt = receivedAt + stalenessMs;
      const becameStale = staleAt >= missed.since && staleAt < engine.now();
      if (receivedAt >= missed.since || becameStale) missed.changed.clusters.add(clusterId);
    }
    return eventText(changesEvent(missed.changed, engine), publishedCommit);
  };

  const checkStreamLimits = ({ sessionId }: LiveReader): void => {
    const { maxStreams, maxStreamsPerSession: most } = limits;
    if (readers.size >= maxStreams)
      throw new Fault("overloaded", `${maxStreams} pages are open already; close some`);
    const own = [...readers.values()].filter((reader) => reader.sessionId === sessionId);
    if (own.length >= most)
      throw new Fault("overloaded", `this browser has ${most} pages open already; close some`);
  };

  return {
    open: (reader) => {
      checkStreamLimits(reader);
      return (response) => begin(response, reader);
    },
    committed,
    size: () => readers.size,
    stop: () => {
      for (const response of readers.keys()) response.end();
      readers.clear();
      cancelPoll?.();
      cancelFlush?.();
    },
  };
}

/** Reservations first: they are what people wait for. */
function changesEvent({ clusters, reservations, decisions }: Changed, engine: Engine): UiEvent {
  const { ledger, commitNumber } = engine;
  const moment = { now: engine.now(), policy: engine.policy };
  const rows = {
    reservations: [...reservations].slice(0, MAX_ROWS).flatMap((id) => {
      const reservation = ledger.reservations.get(id);
      return reservation === undefined ? [] : [reservationView(reservation)];
    }),
    decisions: decisions.slice(-MAX_ROWS),
    clusters: [...clusters].slice(0, MAX_ROWS).flatMap((id) => {
      const account = ledger.accounts.get(id);
      return hasAdvertised(account) ? [clusterView(account, moment)] : [];
    }),
  };
  const more = reservations.size > MAX_ROWS || clusters.size > MAX_ROWS || decisions.length > MAX_ROWS;
  return { event: "changes", data: { commit: commitNumber, ...rows, more } };
}

/** One server-sent event. JSON has no line breaks of its own, so no name of a cluster can end it early. */
function eventText({ event, data }: UiEvent, id: number | undefined): string {
  const idLine = id === undefined ? "" : `id: ${id}\n`;
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n${idLine}\n`;
}
