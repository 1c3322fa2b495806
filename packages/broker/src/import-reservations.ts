import { type Log, parseRequest, parseTime, toFault } from "@resource-broker/base";
import { describeProblems, type Mapped, validate } from "@resource-broker/contract";
import {
  KUBE_LABEL,
  NOBODY,
  type Reservation as ReservationObject,
  reservationKind,
} from "@resource-broker/contract/crd";
import type { Reservation, ReservationRequest } from "@resource-broker/domain";
import { customResource } from "@resource-broker/kube";
import type { BrokerCluster } from "./cluster-access.ts";
import type { Engine } from "./engine/engine.ts";
import { isNamespaceTerminating } from "./interface/kubernetes/objects/object-informers.ts";
import { faultOf } from "./interface/shared/checked.ts";

const RESERVATIONS = customResource(reservationKind);

export interface ImportDeps {
  readonly engine: Pick<Engine, "ledger" | "commitNumber" | "submit">;
  readonly open: () => Promise<BrokerCluster>;
  readonly log: Log;
}

/**
 * Imports the Reservations of the Go broker, which had no ledger. An empty ledger imports them before it grants anything,
 * with any store. The import commit records that the import was done. Rejects if the objects cannot be read: granting
 * without them would grant the same capacity twice.
 */
export async function importReservations({ engine, open, log }: ImportDeps): Promise<void> {
  if (engine.commitNumber > 0 || engine.ledger.reservations.size > 0) return;
  const reservations = await readReservations(open);
  if (reservations.length === 0) return;
  const reply = await engine.submit({ kind: "import", reservations });
  if (reply.kind !== "imported") throw faultOf(reply);
  log.info({ reservations: reply.count }, "took over the Reservations of an older broker");
}

async function readReservations(open: () => Promise<BrokerCluster>): Promise<Reservation[]> {
  const found: Reservation[] = [];
  const unreadable: string[] = [];
  for (const object of await liveObjects(open)) {
    const reservation = reservationFrom(object);
    if (reservation.ok) found.push(reservation.value);
    else unreadable.push(`${object.metadata.name}: ${describeProblems(reservation.problems)}`);
  }
  if (unreadable.length > 0) throw notRead(unreadable.slice(0, MAX_REPORTED).join("; "));
  return found;
}

const MAX_REPORTED = 5;

/** Objects that are deleted together with their namespace or CRD were not released: they count as not deleted. */
async function liveObjects(open: () => Promise<BrokerCluster>): Promise<ReservationObject[]> {
  const live: ReservationObject[] = [];
  try {
    const { client, namespace } = await open();
    await client.list(RESERVATIONS, { namespace }, (object) => {
      if (isLiveInOldBroker(object)) live.push(object);
    });
    const isAnyDeleted = live.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
    return isAnyDeleted && (await isNamespaceTerminating(client, { namespace, kind: reservationKind }))
      ? live.map(notDeleted)
      : live;
  } catch (error) {
    const { code, message } = toFault(error);
    if (code === "not-found") return []; // the CRD is not installed
    throw notRead(message, error);
  }
}

function notDeleted({ metadata, ...object }: ReservationObject): ReservationObject {
  const { deletionTimestamp: _, ...kept } = metadata;
  return { ...object, metadata: kept };
}

function notRead(why: string, cause?: unknown): Error {
  return new Error(
    `this ledger is new, and the Reservations of the older broker cannot be read (${why}): ` +
      "fix the cause, or start without them: --import-reservations=off",
    { cause },
  );
}

/** Objects with a ledger ID belong to another ledger and return through adoption. */
function isLiveInOldBroker({ metadata, status }: ReservationObject): boolean {
  const isLive = status?.phase === "Reserved" || status?.phase === "Active";
  return isLive && status.ledgerID === undefined && metadata.labels?.[KUBE_LABEL.view] !== "true";
}

/** Keeps the object's name, which agents know. The object's UID becomes the key, so the object is not decided again. */
function reservationFrom({ metadata, spec, status = {} }: ReservationObject): Mapped<Reservation> {
  const { requesterID: requester = NOBODY, targetClusterID: provider } = spec;
  const read = requestFrom(spec);
  if (!read.ok) return read;
  if (provider === undefined) return wrong("targetClusterID", "is missing");
  if (provider === requester) return wrong("targetClusterID", `${provider} is the requester itself`);
  const value: Reservation = {
    id: metadata.name,
    requester,
    provider,
    granted: read.value.resources,
    request: read.value,
    phase: status.phase === "Active" ? "Active" : "Reserved",
    ...(metadata.uid === undefined ? {} : { key: metadata.uid }),
    ...timesOf(metadata, status),
    acknowledged: false,
    generation: 1,
  };
  return { ok: true, value };
}

function requestFrom(spec: ReservationObject["spec"]): Mapped<ReservationRequest> {
  const checked = validate(reservationKind.spec, spec);
  if (!checked.ok) return checked;
  const { requestedResources, priority = 0 } = checked.value;
  if (requestedResources === undefined) return wrong("requestedResources", "is missing");
  const read = parseRequest(requestedResources);
  if (read.ok) {
    return { ok: true, value: { resources: read.resources, priority, constraints: {}, tier: "on-demand" } };
  }
  return {
    ok: false,
    problems: read.problems.map(({ field, problem }) => ({
      path: `requestedResources.${field}`,
      message: problem,
    })),
  };
}

function wrong(path: string, message: string): Extract<Mapped<never>, { ok: false }> {
  return { ok: false, problems: [{ path, message }] };
}

/** A deleted object still waits for the broker's finalizer: its reservation ends at the deletion time. */
function timesOf(
  { creationTimestamp = "", deletionTimestamp = "" }: ReservationObject["metadata"],
  { reservedAt = "", expiresAt = "" }: NonNullable<ReservationObject["status"]>,
): Pick<Reservation, "createdAt" | "reservedAt" | "expiresAt"> {
  const createdAt = parseTime(creationTimestamp) ?? 0;
  const ends = [expiresAt, deletionTimestamp].flatMap((text) => parseTime(text) ?? []);
  return {
    createdAt,
    reservedAt: parseTime(reservedAt) ?? createdAt,
    ...(ends.length === 0 ? {} : { expiresAt: Math.min(...ends) }),
  };
}
