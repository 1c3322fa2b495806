import type { Reservation } from "@resource-broker/domain";
import { type RenderContext, renderReservation } from "../../shared/render.ts";
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
export function noticeFor(clusterId: string, reservation: Reservation): Notice | undefined {
  if (reservation.provider === clusterId) return { name: "instruction", reservation };
  return reservation.requester === clusterId ? { name: "reservation", reservation } : undefined;
}
