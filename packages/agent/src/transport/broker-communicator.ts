import {
  type BrokerClient,
  type BrokerEvent,
  isReserved,
  type ResponseMetadata,
  type Role,
} from "@resource-broker/client";
import type { AdvertisementDTO, ReservationRequestDTO } from "@resource-broker/contract";
import type { Reservation, WaitingRequest } from "../reservations/reservation.ts";
import { fromWire, toOffer, waitingFromWire } from "./reservation-mapping.ts";

export type { BrokerEvent, ResponseMetadata, Role };

/** The broker's API as it is on the wire: the client over HTTP, or the transport through objects in the broker's cluster. */
export type BrokerTransport = Omit<
  BrokerClient,
  "identity" | "request" | "renew" | "quote" | "getDecision" | "renewCertificate"
> & {
  /** The identity that the broker sees. Undefined: the transport does not know. */
  readonly identity: () => string | undefined;
};

/** A request as it is sent: the amounts are the user's text. */
export type ReservationRequestBody = ReservationRequestDTO;

/** Capacity was freed at some provider, or is at risk at a provider of these reservations. */
export interface CapacityChange {
  readonly change: "freed" | "at-risk";
  readonly reservationIds: readonly string[];
  readonly message: string;
}

/** What the broker pushes, as the agent reads it. */
export type ReservationEvent =
  | { readonly kind: "instruction" | "reservation"; readonly reservation: Reservation }
  | { readonly kind: "waiting"; readonly waiting: WaitingRequest }
  | { readonly kind: "capacity"; readonly capacity: CapacityChange }
  /** What another cluster states to this one: a signed JWS. Nothing in it was checked. */
  | { readonly kind: "statement"; readonly from: string; readonly statement: string }
  | { readonly kind: "reset" | "heartbeat" };

/** The agent's port to the broker: the calls of `BrokerClient`, and the faults they throw, in the agent's own types. */
export type BrokerCommunicator = ReturnType<typeof brokerCommunicator>;

export function brokerCommunicator(transport: BrokerTransport) {
  return {
    ...transport,
    publish: async (sent: AdvertisementDTO) => {
      const { advertisement, providerInstructions } = await transport.publish(sent);
      // Undefined: the broker does not say.
      return { advertisement, instructions: providerInstructions?.map(fromWire) };
    },
    reserve: async (request: ReservationRequestDTO, key: string) =>
      fromWire(await transport.reserve(request, key)),
    /** For a broker that can queue: the request waits if nobody has room. */
    reserveOrWait: async (
      request: ReservationRequestBody,
      key: string,
    ): Promise<Reservation | WaitingRequest> => {
      const answer = await transport.reserveOrWait(request, key);
      return isReserved(answer) ? fromWire(answer) : waitingFromWire(answer);
    },
    /** Undefined: there is no such waiting request; it may have become a reservation. */
    getWaiting: async (id: string) => {
      const found = await transport.getWaiting(id);
      return found && waitingFromWire(found);
    },
    listWaiting: async () => (await transport.listWaiting()).map(waitingFromWire),
    listReservations: async (role: Role) => (await transport.listReservations(role)).map(fromWire),
    getReservation: async (id: string) => {
      const found = await transport.getReservation(id);
      return found && fromWire(found);
    },
    listInstructions: async () => (await transport.listInstructions()).map(fromWire),
    watch: (signal: AbortSignal): AsyncIterable<ReservationEvent> => eventsOf(transport.watch(signal)),
    activate: async (id: string) => fromWire(await transport.activate(id)),
    adopt: async (reservations: readonly Reservation[]) => {
      const { results } = await transport.adopt({ reservations: reservations.map(toOffer) });
      return results.map(({ reservation, ...result }) => ({
        ...result,
        reservation: reservation && fromWire(reservation),
      }));
    },
  };
}

/** The broker's answer to one reservation that was offered for adoption. */
export type AdoptionResult = Awaited<ReturnType<BrokerCommunicator["adopt"]>>[number];

async function* eventsOf(events: AsyncIterable<BrokerEvent>): AsyncGenerator<ReservationEvent> {
  for await (const event of events) yield fromEvent(event);
}

function fromEvent(event: BrokerEvent): ReservationEvent {
  switch (event.kind) {
    case "instruction":
    case "reservation":
      return { kind: event.kind, reservation: fromWire(event.reservation) };
    case "waiting":
      return { kind: "waiting", waiting: waitingFromWire(event.waiting) };
    case "capacity": {
      const { change, reservationIDs: reservationIds = [], message = "" } = event.capacity;
      return { kind: "capacity", capacity: { change, reservationIds, message } };
    }
    case "statement":
      return event;
    case "reset":
    case "heartbeat":
      return { kind: event.kind };
  }
}
