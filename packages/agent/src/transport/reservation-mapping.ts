import { parseResources } from "@resource-broker/base";
import type {
  AdoptionReplyDTO,
  AdoptionRequestDTO,
  CapacityEventDTO,
  ReservationDTO,
} from "@resource-broker/contract";
import type { Reservation } from "../reservations/reservation.ts";
import type {
  AdoptionResult,
  BrokerCommunicator,
  BrokerEvent,
  BrokerTransport,
  CapacityChange,
  ReservationEvent,
} from "./broker-communicator.ts";

export function fromWire(wire: ReservationDTO): Reservation {
  const { requestedResources, status } = wire;
  const parsed = parseResources(requestedResources, "up");
  return {
    id: wire.id,
    requester: wire.requesterID,
    provider: wire.targetClusterID,
    phase: status.phase,
    message: status.message,
    endReason: wire.reason,
    quantities: requestedResources,
    resources: parsed.ok ? parsed.resources : undefined,
    createdAt: wire.createdAt,
    reservedAt: status.reservedAt,
    expiresAt: status.expiresAt,
    generation: wire.generation,
    key: wire.key,
    cost: wire.cost,
    tier: wire.tier,
    priority: wire.priority,
    decisionId: wire.decisionID,
    providerEndpoint: wire.targetClusterEndpoint,
    dataPlaneIds: { requester: wire.requesterLiqoID, provider: wire.targetLiqoID },
    sliceDefaults: wire.sliceDefaults,
  };
}

type WireFields = { readonly [K in keyof ReservationDTO]: ReservationDTO[K] | undefined };

/**
 * The reservation in the order of the wire schema. Instructions carry it as text: another order would write every
 * instruction again. A key that the agent added comes after the broker's fields.
 */
export function toWire(reservation: Reservation): WireFields {
  const { phase, message, reservedAt, expiresAt, key, isKeyAdded, dataPlaneIds } = reservation;
  return {
    id: reservation.id,
    requesterID: reservation.requester,
    targetClusterID: reservation.provider,
    requestedResources: reservation.quantities,
    status: {
      phase,
      message,
      ...(reservedAt === undefined ? {} : { reservedAt }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    },
    createdAt: reservation.createdAt,
    reason: reservation.endReason,
    cost: reservation.cost,
    generation: reservation.generation,
    ...(isKeyAdded === true ? {} : { key }),
    requesterLiqoID: dataPlaneIds.requester,
    targetLiqoID: dataPlaneIds.provider,
    targetClusterEndpoint: reservation.providerEndpoint,
    tier: reservation.tier,
    priority: reservation.priority,
    decisionID: reservation.decisionId,
    ...(isKeyAdded === true ? { key } : {}),
    sliceDefaults: reservation.sliceDefaults,
  };
}

/** The agent's port on a transport: maps what is on the wire to the agent's own types, and back. */
export function brokerCommunicator(transport: BrokerTransport): BrokerCommunicator {
  const { identity, release, releaseByKey, acknowledge, refuse, ping, onResponse, close } = transport;
  return {
    identity,
    release,
    releaseByKey,
    acknowledge,
    refuse,
    ping,
    onResponse,
    close,
    publishAdvertisement: async (sent) => {
      const { advertisement, providerInstructions } = await transport.publishAdvertisement(sent);
      return { advertisement, instructions: providerInstructions?.map(fromWire) };
    },
    requestReservation: async (request, key) => fromWire(await transport.requestReservation(request, key)),
    fetchReservations: async (role) => (await transport.fetchReservations(role)).map(fromWire),
    fetchReservation: async (id) => {
      const found = await transport.fetchReservation(id);
      return found && fromWire(found);
    },
    fetchInstructions: async () => (await transport.fetchInstructions()).map(fromWire),
    watchInstructions: async function* (signal) {
      for await (const event of transport.watchInstructions(signal)) yield fromEvent(event);
    },
    activate: async (id) => fromWire(await transport.activate(id)),
    adopt: async (reservations) => {
      const { results } = await transport.adopt({ reservations: reservations.map(toOffer) });
      return results.map(fromAdoptionResult);
    },
  };
}

function fromEvent(event: BrokerEvent): ReservationEvent {
  switch (event.kind) {
    case "instruction":
    case "reservation":
      return { kind: event.kind, reservation: fromWire(event.reservation) };
    case "capacity":
      return { kind: "capacity", capacity: fromCapacity(event.capacity) };
    case "reset":
    case "heartbeat":
      return { kind: event.kind };
  }
}

function fromCapacity({ change, reservationIDs = [], message = "" }: CapacityEventDTO): CapacityChange {
  return { change, reservationIds: reservationIDs, message };
}

function toOffer(reservation: Reservation): AdoptionRequestDTO["reservations"][number] {
  const {
    id,
    requester,
    provider,
    quantities,
    phase,
    generation = 0,
    createdAt,
    expiresAt,
    key,
  } = reservation;
  return {
    id,
    requesterID: requester,
    targetClusterID: provider,
    requestedResources: quantities,
    phase: phase === "Active" ? "Active" : "Reserved",
    generation,
    createdAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(key === undefined ? {} : { key }),
  };
}

function fromAdoptionResult(result: AdoptionReplyDTO["results"][number]): AdoptionResult {
  const { id, outcome, message, reservation } = result;
  return { id, outcome, message, reservation: reservation && fromWire(reservation) };
}
