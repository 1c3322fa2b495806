import type { ServerResponse } from "node:http";
import { Fault, type UiEvent } from "@resource-broker/contract";
import type { Clock } from "@resource-broker/runtime";
import type { Committed, Engine } from "../../../engine/engine.ts";
import type { DashboardLimits } from "../ports.ts";
import { hasAdvertised } from "../views/advertised-account.ts";
import { clusterView } from "../views/cluster-view.ts";
import { reservationView } from "../views/reservation-view.ts";
import { ChangeLog } from "./change-log.ts";
import { type Changed, changedBy, Gathered } from "./changed.ts";
import { eventText, HEARTBEAT, RETRY } from "./event-text.ts";
import { SoftWatch } from "./soft-watch.ts";

const GATHER_MS = 200;
const LOOK_MS = 1000;
const LOOKS_PER_HEARTBEAT = 4;
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
  let watch = new SoftWatch();
  let gathered = new Gathered();
  /** The last commit that pages have received: a page that reconnects resumes after it. */
  let toldUpTo = engine.commitNumber;
  let cancelGathering: (() => void) | undefined;
  let cancelLook: (() => void) | undefined;
  let looks = 0;

  const committed = (commit: Committed): void => {
    const changed = changedBy(commit, engine.ledger);
    log.add(commit.number, commit.at, changed);
    if (readers.size === 0) toldUpTo = commit.number;
    else gather(changed);
  };

  const gather = (changed: Changed): void => {
    gathered.add(changed);
    cancelGathering ??= clock.after(GATHER_MS, tell);
  };

  const tell = (): void => {
    cancelGathering = undefined;
    const changed = gathered;
    gathered = new Gathered();
    toldUpTo = engine.commitNumber;
    if (changed.size > 0) writeToAll(eventText(changesEvent(changed, engine), toldUpTo));
  };

  const look = (): void => {
    cancelLook = clock.after(LOOK_MS, look);
    // Another replica may lead: the local state may be outdated.
    if (deps.notLeading?.() !== undefined) return;
    const clusters = watch.look(engine.ledger, { now: engine.now(), policy: engine.policy });
    if (clusters.size > 0) gather({ clusters, reservations: new Set(), decisions: [] });
    if (++looks % LOOKS_PER_HEARTBEAT === 0) writeToAll(HEARTBEAT);
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
    const hello: UiEvent = { event: "hello", data: { commit: toldUpTo, ledgerID: ledgerId } };
    const { lastEventId } = reader;
    // A returning page keeps its last event id until it has received the missed changes: it may be disconnected before.
    const greeting = eventText(hello, lastEventId === undefined ? toldUpTo : undefined);
    write(response, reader, `${RETRY}${greeting}`);
    if (lastEventId !== undefined) write(response, reader, missedText(lastEventId));
    if (cancelLook !== undefined) return;
    watch = new SoftWatch();
    look();
  };

  const leave = (response: ServerResponse): void => {
    readers.delete(response);
    if (readers.size > 0) return;
    cancelLook?.();
    cancelLook = undefined;
    cancelGathering?.();
    tell();
  };

  /** The changes that a page missed, up to the last published commit. Pending changes follow with the next event. */
  const missedText = (lastEventId: string): string => {
    const last = /^[0-9]{1,15}$/.test(lastEventId) ? Number(lastEventId) : Number.NaN;
    const missed = last <= toldUpTo ? log.between(last, toldUpTo) : undefined;
    if (missed === undefined) return eventText({ event: "reset", data: { commit: toldUpTo } }, toldUpTo);
    const { stalenessMs } = engine.policy;
    for (const { clusterId, receivedAt } of engine.ledger.accounts.values()) {
      // The cluster advertised since then, or became stale.
      const silentAt = receivedAt + stalenessMs;
      const isSilent = silentAt >= missed.since && silentAt < engine.now();
      if (receivedAt >= missed.since || isSilent) missed.changed.clusters.add(clusterId);
    }
    return eventText(changesEvent(missed.changed, engine), toldUpTo);
  };

  const insistOnRoom = ({ sessionId }: LiveReader): void => {
    const { maxStreams, maxStreamsPerSession: most } = limits;
    if (readers.size >= maxStreams)
      throw new Fault("overloaded", `${maxStreams} pages are open already; close some`);
    const own = [...readers.values()].filter((reader) => reader.sessionId === sessionId);
    if (own.length >= most)
      throw new Fault("overloaded", `this browser has ${most} pages open already; close some`);
  };

  return {
    open: (reader) => {
      insistOnRoom(reader);
      return (response) => begin(response, reader);
    },
    committed,
    size: () => readers.size,
    stop: () => {
      for (const response of readers.keys()) response.end();
      readers.clear();
      cancelLook?.();
      cancelGathering?.();
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
