import type { ClusterId, Reservation } from "@resource-broker/domain";
import type { Engine } from "../../../engine/engine.ts";
import { type RenderContext, renderReservation } from "../../shared/render.ts";
import type { ChangeLog } from "./change-log.ts";
import { commitIn, eventText, resetText } from "./event-stream.ts";

/** Event name for the provider and for the requester. */
export type PartyEvent = "instruction" | "reservation";

export interface Notice {
  readonly name: PartyEvent;
  readonly reservation: Reservation;
}

/** The event text of a reservation for one of its parties. */
export function noticeText(
  renderContext: RenderContext,
  { name, reservation }: Notice,
  isOlderAgent: boolean,
): string {
  const role = name === "instruction" ? "provider" : "requester";
  return eventText(name, renderReservation(renderContext, reservation, { role, isOlderAgent }));
}

/** A cluster is either provider or requester of a reservation, never both. */
function noticeFor(clusterId: string, reservation: Reservation): Notice | undefined {
  if (reservation.provider === clusterId) return { name: "instruction", reservation };
  return reservation.requester === clusterId ? { name: "reservation", reservation } : undefined;
}

interface InitialEventsDeps {
  readonly engine: Engine;
  readonly renderContext: () => RenderContext;
  readonly log: ChangeLog<readonly Reservation[]>;
}

export interface StreamReader {
  readonly clusterId: ClusterId;
  /** True: an admin of that name. */
  readonly isAdmin: boolean;
  readonly isOlderAgent: boolean;
  readonly protocol: number;
  /** The last event it has seen. */
  readonly lastEventId: string | undefined;
}

/**
 * The first events of a stream: the changes since the last event that the reader saw. If they are not available any more, a
 * `reset` event and all live reservations. Each reservation is written in its current state.
 */
export function* initialEvents(
  { engine, renderContext, log }: InitialEventsDeps,
  { clusterId, isOlderAgent, lastEventId }: StreamReader,
): Generator<string> {
  const missed = lastEventId === undefined ? undefined : missedSince(lastEventId, engine, log);
  if (lastEventId !== undefined && missed === undefined) yield resetText(lastEventId);
  const notices = missed === undefined ? live(engine, clusterId) : about(clusterId, missed);
  for (const { name, reservation } of notices) {
    const current = engine.ledger.reservations.get(reservation.id) ?? reservation;
    yield noticeText(renderContext(), { name, reservation: current }, isOlderAgent);
  }
}

function missedSince(
  lastEventId: string,
  { commitNumber }: Engine,
  log: InitialEventsDeps["log"],
): Reservation[] | undefined {
  const seen = commitIn(lastEventId);
  if (seen === undefined || seen > commitNumber) return undefined;
  return log.between(seen, commitNumber)?.changes.flat();
}

function live(engine: Engine, clusterId: ClusterId): Notice[] {
  const { asProvider, asRequester } = engine.ledger.accounts.get(clusterId) ?? {};
  const noticesOf = (name: PartyEvent, reservations: Iterable<Reservation> = []): Notice[] =>
    Array.from(reservations, (reservation) => ({ name, reservation }));
  return [
    ...noticesOf("instruction", asProvider?.values()),
    ...noticesOf("reservation", asRequester?.values()),
  ];
}

/** Each reservation once, however often it changed meanwhile. */
function about(clusterId: ClusterId, changes: readonly Reservation[]): Notice[] {
  const latest = new Map(changes.map((reservation) => [reservation.id, reservation]));
  return Array.from(latest.values()).flatMap((reservation) => noticeFor(clusterId, reservation) ?? []);
}
