import {
  KUBE_LABEL,
  NOBODY,
  parseTime,
  type Reservation as ReservationObject,
  reservationKind,
} from "@resource-broker/contract";
import { parseResources, type Reservation, type ReservationRequest } from "@resource-broker/domain";
import { customResource, type KubeClient } from "@resource-broker/kube";
import type { Log } from "@resource-broker/runtime";
import { isCode } from "./failure.ts";

const RESERVATIONS = customResource(reservationKind);

/**
 * What a broker without a ledger of its own (the Go broker) has left: its Reservations were the truth. They keep their
 * names, which agents know, and the object's UID is the key, so that the same object is not decided once more. Those
 * that name a ledger are another ledger's, and come back by adoption.
 */
export async function importReservations(
  client: KubeClient,
  namespace: string,
  log: Pick<Log, "warn">,
): Promise<Reservation[]> {
  const imported: Reservation[] = [];
  try {
    await client.list(RESERVATIONS, { namespace }, (object) => {
      if (!isHeldByOldBroker(object)) return;
      const reservation = reservationFrom(object);
      if (reservation !== undefined) imported.push(reservation);
      else log.warn({ reservation: object.metadata.name }, "an older broker's Reservation cannot be read");
    });
  } catch (error) {
    if (!isCode(error, "not-found")) throw error; // not even the kind is there
  }
  return imported;
}

function isHeldByOldBroker({ metadata, status }: ReservationObject): boolean {
  const isHeld = status?.phase === "Reserved" || status?.phase === "Active";
  return isHeld && status.ledgerID === undefined && metadata.labels?.[KUBE_LABEL.view] !== "true";
}

function reservationFrom({ metadata, spec, status = {} }: ReservationObject): Reservation | undefined {
  const { requesterID: requester = NOBODY, targetClusterID: provider } = spec;
  const request = requestFrom(spec);
  if (request === undefined || provider === undefined || provider === requester) return undefined;
  return {
    id: metadata.name,
    requester,
    provider,
    granted: request.resources,
    request,
    phase: status.phase === "Active" ? "Active" : "Reserved",
    ...(metadata.uid === undefined ? {} : { key: metadata.uid }),
    ...timesOf(metadata, status),
    acknowledged: false,
    generation: 1,
  };
}

function requestFrom({
  requestedResources,
  priority = 0,
}: ReservationObject["spec"]): ReservationRequest | undefined {
  const read = requestedResources && parseResources(requestedResources, "up");
  if (read?.ok !== true) return undefined;
  return { resources: read.resources, priority, constraints: {}, tier: "on-demand" };
}

function timesOf(
  { creationTimestamp = "" }: ReservationObject["metadata"],
  { reservedAt = "", expiresAt = "" }: NonNullable<ReservationObject["status"]>,
): Pick<Reservation, "createdAt" | "reservedAt" | "expiresAt"> {
  const createdAt = parseTime(creationTimestamp) ?? 0;
  const until = parseTime(expiresAt);
  return {
    createdAt,
    reservedAt: parseTime(reservedAt) ?? createdAt,
    ...(until === undefined ? {} : { expiresAt: until }),
  };
}
