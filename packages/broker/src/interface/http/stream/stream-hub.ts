import type { ServerResponse } from "node:http";
import { type Clock, describeResources, truncate } from "@resource-broker/base";
import { type CapacityEventDTO, LIMIT } from "@resource-broker/contract";
import {
  type ClusterId,
  MARKET_PROTOCOL,
  type Reservation,
  type ReservationId,
  type Waiting,
} from "@resource-broker/domain";
import type { Committed, Engine } from "../../../engine/engine.ts";
import { CapacityWatch, changedReservations, changedWaiting } from "../../shared/capacity-watch.ts";
import type { RenderContext } from "../../shared/render.ts";
import { renderWaiting } from "../../shared/render-waiting.ts";
import type { HttpLimits } from "../ports.ts";
import type { Delivery, Statements } from "../statements/statements.ts";
import { ChangeLog } from "./change-log.ts";
import { beginStream, EventStream, eventText, heartbeatText } from "./event-stream.ts";
import { OpenStreams } from "./open-streams.ts";
import { initialEvents, type Notice, noticeText, type PartyEvent, type StreamReader } from "./party-event.ts";

const TICK_MS = 1000;
/** Limits how many readers are notified of freed capacity per second. */
const NOTIFIED_PER_SECOND = 1000;
const FREED = eventText("capacity", { change: "freed" });

/** Sends committed changes to the parties they concern. */
export interface StreamHub {
  readonly open: (response: ServerResponse, reader: StreamReader) => void;
  /** Sends a statement to its receiver, if it reads a stream. */
  readonly deliver: (delivery: Delivery) => void;
  /** Call it after an advertisement or a cordon: `committed` looks only at clusters whose reservations changed. */
  readonly capacityMayHaveChanged: (clusterId: ClusterId) => void;
  readonly size: () => number;
  readonly stop: () => void;
}

export interface StreamHubDeps {
  readonly engine: Engine;
  readonly renderContext: () => RenderContext;
  readonly clock: Pick<Clock, "after">;
  /** Headers that every reply carries. */
  readonly headers: () => string[];
  readonly limits: HttpLimits;
  readonly statements: Pick<Statements, "listFor" | "update">;
  /** Why this replica may not publish ledger data. Absent: there is only one process. */
  readonly notLeading?: () => unknown;
}

export function createStreamHub(deps: StreamHubDeps): StreamHub {
  const { engine, renderContext, clock, headers, limits, statements } = deps;
  const capacity = new CapacityWatch(engine);
  const start = { commit: engine.commitNumber, at: engine.now() };
  const log = new ChangeLog<readonly Reservation[]>(limits.changesRemembered, start);
  const streams = new OpenStreams({
    maxPerCluster: limits.maxStreamsPerCluster,
    maxLagMs: limits.maxStreamLagMs,
    ticksPerHeartbeat: Math.max(1, Math.round(limits.heartbeatMs / TICK_MS)),
  });
  const commit = (): number => engine.commitNumber;
  let cancelTick: (() => void) | undefined;
  let publishCapacityAt = 0;

  const capacityMayHaveChanged = (clusterId: ClusterId): void => capacity.observe(clusterId);

  const committed = (batch: Committed): void => {
    const notices = new Map<ClusterId, Notice[]>();
    const note = (clusterId: ClusterId, name: PartyEvent, reservation: Reservation): void => {
      capacityMayHaveChanged(clusterId);
      if (streams.of(clusterId).length === 0) return;
      const noted = notices.get(clusterId);
      if (noted === undefined) notices.set(clusterId, [{ name, reservation }]);
      else noted.push({ name, reservation });
    };
    const changed = changedReservations(batch, engine.ledger);
    log.add({ commit: batch.number, at: batch.at }, changed, changed.length);
    for (const reservation of changed) {
      note(reservation.provider, "instruction", reservation);
      note(reservation.requester, "reservation", reservation);
    }
    for (const [clusterId, noted] of notices) notify(clusterId, noted);
    for (const entry of changedWaiting(batch, engine.ledger)) notifyWaiting(entry);
    for (const delivery of statements.update(batch)) deliver(delivery);
  };

  /** Agents of the first version would not know the event. */
  const deliver: StreamHub["deliver"] = ({ to, statement }) => {
    for (const stream of streams.of(to))
      if (!stream.isOlderAgent) send(stream, [eventText("statement", statement)]);
  };

  const notifyWaiting = (entry: Waiting): void => {
    const { requester } = entry;
    const readers = streams.of(requester).filter(({ protocol }) => protocol >= MARKET_PROTOCOL);
    if (readers.length === 0) return;
    const event = eventText("waiting", renderWaiting(engine, entry, { reader: { clusterId: requester } }));
    for (const stream of readers) send(stream, [event]);
  };

  /** Written out once for each kind of reader, however many there are. */
  const notify = (clusterId: ClusterId, notices: readonly Notice[]): void => {
    const texts = new Map<boolean, string[]>();
    for (const stream of streams.of(clusterId)) {
      const { isOlderAgent } = stream;
      const events =
        texts.get(isOlderAgent) ?? notices.map((notice) => noticeText(renderContext(), notice, isOlderAgent));
      texts.set(isOlderAgent, events);
      send(stream, events);
    }
  };

  const send = (stream: EventStream, events: readonly string[]): void =>
    streams.send(stream, events, engine.now());

  const tick = (): void => {
    cancelTick = streams.size === 0 ? undefined : clock.after(TICK_MS, tick);
    // Events without a commit may be outdated if another replica leads.
    if (deps.notLeading?.() !== undefined) return;
    streams.tick(engine.now());
    if (engine.now() >= publishCapacityAt) publishCapacity();
  };

  const publishCapacity = (): void => {
    const { isFreed, atRisk } = capacity.take();
    for (const clusterId of atRisk) {
      for (const [party, event] of riskEvents(engine.ledger, clusterId)) {
        for (const stream of streams.of(party)) send(stream, [event]);
      }
    }
    if (!isFreed) return;
    publishCapacityAt = engine.now() + (streams.size * 1000) / NOTIFIED_PER_SECOND;
    for (const stream of streams.all()) send(stream, [FREED]);
  };

  /** Statements last: whoever reads one has read of the reservation that it is for. */
  function* firstEvents(reader: StreamReader): Generator<string> {
    yield* initialEvents({ engine, renderContext, log }, reader);
    if (reader.isOlderAgent) return;
    for (const statement of statements.listFor(reader.clusterId)) yield eventText("statement", statement);
  }

  const open: StreamHub["open"] = (response, reader) => {
    const { clusterId, isAdmin, isOlderAgent, protocol } = reader;
    const maxBufferBytes = limits.maxStreamBufferBytes;
    const about = { clusterId, isAdmin, isOlderAgent, protocol };
    const stream = new EventStream({ ...about, response, maxBufferBytes, commit });
    beginStream(response, headers());
    response.on("close", () => streams.remove(stream));
    streams.add(stream);
    stream.write(heartbeatText(undefined));
    stream.catchUp(firstEvents(reader));
    cancelTick ??= clock.after(TICK_MS, tick);
  };

  const unsubscribe = engine.onCommit(committed);
  return {
    open,
    deliver,
    capacityMayHaveChanged,
    size: () => streams.size,
    stop: () => {
      unsubscribe();
      cancelTick?.();
      for (const stream of streams.all()) stream.end();
    },
  };
}

/** Events for the parties of an overcommitted provider; each party gets its own reservations only. */
export function riskEvents(ledger: Engine["ledger"], provider: ClusterId): Map<ClusterId, string> {
  const account = ledger.accounts.get(provider);
  const touched = new Map<ClusterId, ReservationId[]>();
  for (const { id, requester } of account?.asProvider.values() ?? []) {
    for (const party of [provider, requester]) {
      const ids = touched.get(party);
      if (ids === undefined) touched.set(party, [id]);
      else if (ids.length < LIMIT.capacityIds) ids.push(id);
    }
  }
  const missing = account === undefined ? "" : describeResources(account.overcommitted);
  const message = truncate(`${provider} has ${missing} less than it lends`, LIMIT.reasonLength);
  return new Map(
    Array.from(touched, ([party, ids]) => {
      const event: CapacityEventDTO = { change: "at-risk", reservationIDs: ids, message };
      return [party, eventText("capacity", event)];
    }),
  );
}
