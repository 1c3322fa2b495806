import {
  KUBE_LABEL,
  NOBODY,
  parseTime,
  type Reservation as ReservationObject,
  reservationKind,
  validate,
} from "@resource-broker/contract";
import { isZero, parseResources, type Reservation, type ReservationRequest } from "@resource-broker/domain";
import { customResource, toFault } from "@resource-broker/kube";
import type { Log } from "@resource-broker/runtime";
import type { BrokerCluster } from "./cluster-access.ts";
import type { Engine } from "./engine/engine.ts";
import { faultOf } from "./interface/shared/checked.ts";

const RESERVATIONS = customResource(reservationKind);

export interface ImportDeps {
  readonly engine: Pick<Engine, "ledger" | "commitNumber" | "submit">;
  readonly open: () => Promise<BrokerCluster>;
  readonly log: Log;
}

/**
 * What a broker without a ledger of its own (the Go broker) has left: its Reservations were the truth. A ledger without a
 * single commit takes them over before anything is lent, whatever the store; the commit that brings them is the record that
 * it was done. Rejects when they cannot be read: without them, what is lent already would be lent again.
 */
export async function importReservations({ engine, open, log }: ImportDeps): Promise<void> {
  if (engine.commitNumber > 0 || engine.ledger.reservations.size > 0) return;
  const reservations = await leftBehind(open);
  if (reservations.length === 0) return;
  const reply = await engine.submit({ kind: "import", reservations });
  if (reply.kind !== "imported") throw faultOf(reply);
  log.info({ reservations: reply.count }, "took over the Reservations of an older broker");
}

async function leftBehind(open: () => Promise<BrokerCluster>): Promise<Reservation[]> {
  const found: Reservation[] = [];
  const unreadable: string[] = [];
  try {
    const { client, namespace } = await open();
    await client.list(RESERVATIONS, { namespace }, (object) => {
      if (!isHeldByOldBroker(object)) return;
      const reservation = reservationFrom(object);
      if (reservation === undefined) unreadable.push(object.metadata.name);
      else found.push(reservation);
    });
  } catch (error) {
    const { code, message } = toFault(error);
    if (code === "not-found") return []; // not even the kind is there
    throw notRead(message, error);
  }
  if (unreadable.length > 0) throw notRead(`${unreadable.slice(0, SHOWN).join(", ")}: no valid spec`);
  return found;
}

const SHOWN = 5;

function notRead(why: string, cause?: unknown): Error {
  return new Error(
    `this ledger is new, and what an older broker has lent cannot be read from its Reservations (${why}): ` +
      "put that right, or begin without them: --import-reservations=off",
    { cause },
  );
}

/** Those that name a ledger are another ledger's, and come back by adoption. */
function isHeldByOldBroker({ metadata, status }: ReservationObject): boolean {
  const isHeld = status?.phase === "Reserved" || status?.phase === "Active";
  return isHeld && status.ledgerID === undefined && metadata.labels?.[KUBE_LABEL.view] !== "true";
}

/** It keeps its name, which agents know; the object's UID is the key, so that the same object is not decided once more. */
function reservationFrom({ metadata, spec, status = {} }: ReservationObject): Reservation | undefined {
  const { requesterID: requester = NOBODY, targetClusterID: provider } = spec;
  const request = validate(reservationKind.spec, spec).ok ? requestFrom(spec) : undefined;
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
  if (read?.ok !== true || isZero(read.resources)) return undefined;
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
