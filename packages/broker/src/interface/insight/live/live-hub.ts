import type { ServerResponse } from "node:http";
import { type Clock, Fault } from "@resource-broker/base";
import { type ChangesEventDTO, MAX_CHANGES } from "@resource-broker/contract";
import type { Committed, Engine } from "../../../engine/engine.ts";
import { hasAdvertised, momentOf } from "../../shared/advertised-account.ts";
import { type RenderContext, renderReservation } from "../../shared/render.ts";
import { ChangeLog } from "../../http/stream/change-log.ts";
import {
  beginStream,
  commitIn,
  eventsText,
  eventText,
  heartbeatText,
  resetText,
} from "../../http/stream/event-stream.ts";
import { renderCluster } from "../standing.ts";
import { AdvertisementWatch, type Changed, changedBy, PendingChanges, sizeOf } from "./changed.ts";

/** How soon a browser calls again when it was cut off. */
const RETRY = "retry: 1000\n\n";

const FLUSH_MS = 200;
const POLL_MS = 1000;
const POLLS_PER_HEARTBEAT = 4;

/** Limits of the stream of everything. */
export interface LiveLimits {
  /** Changes that a reader may have missed and still continue. */
  readonly changesRemembered: number;
  readonly maxStreams: number;
  readonly maxStreamsPerReader: number;
  readonly maxBufferBytes: number;
}

export const DEFAULT_LIVE_LIMITS: LiveLimits = {
  changesRemembered: 4096,
  maxStreams: 100,
  // A browser opens up to six connections to one host, and a page may stand open in many tabs.
  maxStreamsPerReader: 16,
  maxBufferBytes: 1024 * 1024,
};

export interface LiveReader {
  /** Of the session or the admin; counted against the limit. */
  readonly id: string;
  /** The last event it has seen. */
  readonly lastEventId: string | undefined;
  /** False once its session has ended; then its stream is closed. */
  readonly isAllowed: () => boolean;
}

/** Sends changes of the whole ledger to admins and to the pages of the dashboard. */
export interface LiveHub {
  /** Throws a Fault where too many are open; the answer begins only after that. */
  readonly open: (reader: LiveReader) => (response: ServerResponse) => void;
  readonly committed: (commit: Committed) => void;
  readonly size: () => number;
  readonly stop: () => void;
}

export interface LiveHubDeps {
  readonly engine: Engine;
  readonly renderContext: () => RenderContext;
  readonly clock: Pick<Clock, "after">;
  /** Headers of a reply that is written bit by bit. */
  readonly headers: () => readonly string[];
  readonly limits: LiveLimits;
  /** Why this replica may not publish ledger data. Absent: there is only one process. */
  readonly notLeading?: (() => unknown) | undefined;
}

export function createLiveHub(deps: LiveHubDeps): LiveHub {
  const { engine, clock, headers, limits } = deps;
  const log = new ChangeLog<Changed>(limits.changesRemembered, {
    commit: engine.commitNumber,
    at: engine.now(),
  });
  const readers = new Map<ServerResponse, LiveReader>();
  let watch = new AdvertisementWatch();
  let pending = new PendingChanges();
  /**
   * The last commit that readers have received: one that reconnects resumes after it. The newest commit may still be
   * pending, and a reader that is disconnected before it is sent would miss it.
   */
  let publishedCommit = engine.commitNumber;
  let cancelFlush: (() => void) | undefined;
  let cancelPoll: (() => void) | undefined;
  let polls = 0;

  const committed = (commit: Committed): void => {
    const changed = changedBy(commit, engine.ledger);
    log.add({ commit: commit.number, at: commit.at }, changed, 1 + sizeOf(changed));
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
    if (sizeOf(changed) > 0) writeToAll(changesText(changed, publishedCommit));
  };

  const poll = (): void => {
    cancelPoll = clock.after(POLL_MS, poll);
    // Another replica may lead: the local state may be outdated.
    if (deps.notLeading?.() !== undefined) return;
    const clusters = watch.poll(engine.ledger, momentOf(engine));
    if (clusters.size > 0)
      collect({ clusters, reservations: new Set(), decisions: [], isQueueChanged: false });
    if (++polls % POLLS_PER_HEARTBEAT === 0) writeToAll(heartbeatText(undefined));
  };

  const changesText = (changed: Changed, commit: number): string =>
    eventsText([eventText("changes", changesEvent(changed, deps))], commit);

  const writeToAll = (text: string): void => {
    for (const [response, reader] of readers) write(response, reader, text);
  };

  const write = (response: ServerResponse, { isAllowed }: LiveReader, text: string): void => {
    if (!isAllowed()) response.end();
    else if (!response.destroyed && !response.writableEnded) response.write(text);
    // A reader that does not read is disconnected; it resumes when it reconnects.
    if (response.writableLength > limits.maxBufferBytes) response.destroy();
  };

  const begin = (response: ServerResponse, reader: LiveReader): void => {
    beginStream(response, headers());
    readers.set(response, reader);
    response.on("close", () => leave(response));
    const { lastEventId } = reader;
    const hello = { commit: publishedCommit, ledgerID: engine.ledgerId };
    // A returning reader keeps its last event id until it has received the missed changes: it may be disconnected before.
    const id = lastEventId === undefined ? publishedCommit : undefined;
    write(response, reader, `${RETRY}${eventsText([eventText("hello", hello)], id)}`);
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

  /** The changes that a reader missed, up to the last published commit. Pending changes follow with the next event. */
  const missedText = (lastEventId: string): string => {
    const seen = commitIn(lastEventId) ?? Number.POSITIVE_INFINITY;
    const missed = seen <= publishedCommit ? log.between(seen, publishedCommit) : undefined;
    if (missed === undefined) return eventsText([resetText(lastEventId)], publishedCommit);
    const changed = new PendingChanges();
    for (const each of missed.changes) changed.add(each);
    const { stalenessMs } = engine.policy;
    for (const { clusterId, receivedAt } of engine.ledger.accounts.values()) {
      // Advertisements are not commits: the cluster advertised since then, or became stale.
      const staleAt = receivedAt + stalenessMs;
      const becameStale = staleAt >= missed.since && staleAt < engine.now();
      if (receivedAt >= missed.since || becameStale) changed.clusters.add(clusterId);
    }
    return changesText(changed, publishedCommit);
  };

  const checkStreamLimits = ({ id }: LiveReader): void => {
    const { maxStreams, maxStreamsPerReader: most } = limits;
    if (readers.size >= maxStreams)
      throw new Fault("overloaded", `${maxStreams} pages are open already; close some`);
    const own = [...readers.values()].filter((reader) => reader.id === id);
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

function changesEvent(
  { clusters, reservations, decisions, isQueueChanged }: Changed,
  { engine, renderContext }: Pick<LiveHubDeps, "engine" | "renderContext">,
): ChangesEventDTO {
  const context = renderContext();
  const moment = momentOf(engine);
  return {
    reservations: [...reservations].slice(0, MAX_CHANGES).flatMap((id) => {
      const reservation = context.ledger.reservations.get(id);
      return reservation === undefined ? [] : [renderReservation(context, reservation, { role: "admin" })];
    }),
    decisions: decisions.slice(-MAX_CHANGES),
    clusters: [...clusters].slice(0, MAX_CHANGES).flatMap((id) => {
      const account = context.ledger.accounts.get(id);
      return hasAdvertised(account) ? [renderCluster(account, moment)] : [];
    }),
    ...(isQueueChanged ? { queue: true } : {}),
    more: [reservations.size, clusters.size, decisions.length].some((size) => size > MAX_CHANGES),
  };
}
