import type { Reservation } from "@resource-broker/domain";
import { type Books, renderReservation } from "../../shared/render.ts";
import { eventText } from "./event-text.ts";

/** What a reservation is called to each of its parties. */
export type PartyEvent = "instruction" | "reservation";

export interface Notice {
  readonly name: PartyEvent;
  readonly reservation: Reservation;
}

/** A reservation told to one of its parties. */
export function noticeText(books: Books, { name, reservation }: Notice, isOlderAgent: boolean): string {
  const role = name === "instruction" ? "provider" : "requester";
  return eventText(name, renderReservation(books, reservation, { role, isOlderAgent }));
}

/** The same reservation may concern a cluster in one way only: nobody lends to itself. */
export function noticeFor(clusterId: string, reservation: Reservation): Notice | undefined {
  if (reservation.provider === clusterId) return { name: "instruction", reservation };
  return reservation.requester === clusterId ? { name: "reservation", reservation } : undefined;
}
