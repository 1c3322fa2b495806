import type { ClusterId, Reservation } from "@resource-broker/domain";
import type { Engine } from "../../../engine/engine.ts";
import { type RenderContext, renderReservation } from "../../shared/render.ts";
import type { ChangeRing } from "./change-ring.ts";
import { eventText } from "./event-stream.ts";

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
  readonly ring: ChangeRing;
}

interface StreamReader {
  readonly clusterId: ClusterId;
  readonly isOlderAgent: boolean;
  readonly lastEventId: string | undefined;
}

/**
 * The first events of a stream: the changes since the last event that the reader saw. If they are not available any more, a
 * `reset` event and all live reservations. Each reservation is written in its current state.
 */
export function* initialEvents(
  { engine, renderContext, ring }: InitialEventsDeps,
  { clusterId, isOlderAgent, lastEventId }: StreamReader,
): Generator<string> {
  const missed = lastEventId === undefined ? undefined : missedSince(lastEventId, engine, ring);
  if (lastEventId !== undefined && missed === undefined) {
    yield eventText("reset", {
      reason: `event ${JSON.stringify(lastEventId.slice(0, 20))} is unknown or too old`,
    });
  }
  const notices = missed === undefined ? live(engine, clusterId) : about(clusterId, missed);
  for (const { name, reservation } of notices) {
    const current = engine.ledger.reservations.get(reservation.id) ?? reservation;
    yield noticeText(renderContext(), { name, reservation: current }, isOlderAgent);
  }
}

function missedSince(lastEventId: string, engine: Engine, ring: ChangeRing): Reservation[] | undefined {
  if (!/^[0-9]{1,15}$/.test(lastEventId)) return undefined;
  const commit = Number(lastEventId);
  return commit > engine.commitNumber ? undefined : ring.since(commit);
}

function live(engine: Engine, clusterId: ClusterId): Notice[] {
  const account = engine.ledger.accounts.get(clusterId);
  if (account === undefined) return [];
  return [
    ...Array.from(
      account.asProvider.values(),
      (reservation) => ({ name: "instruction", reservation }) as const,
    ),
    ...Array.from(
      account.asRequester.values(),
      (reservation) => ({ name: "reservation", reservation }) as const,
    ),
  ];
}

/** Each reservation once, however often it changed meanwhile. */
function about(clusterId: ClusterId, changes: readonly Reservation[]): Notice[] {
  const latest = new Map(changes.map((reservation) => [reservation.id, reservation]));
  return Array.from(latest.values()).flatMap((reservation) => noticeFor(clusterId, reservation) ?? []);
}
