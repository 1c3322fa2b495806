import type { Log } from "@resource-broker/base";
import { KUBE_LABEL, type Reservation } from "@resource-broker/contract/crd";
import { isLive } from "@resource-broker/domain";
import type { Sink } from "@resource-broker/kube";
import type { Role } from "../broker-communicator.ts";
import {
  isOfQueue,
  isOrphaned,
  type LedgerReservation,
  type LedgerWaiting,
  readReservation,
  readWaiting,
  unlessUnreadable,
} from "./read-reservation.ts";

interface ReservationIndexDeps {
  readonly log: Log;
  /** A reservation is new, or has changed. */
  readonly onUpdate: (found: LedgerReservation) => void;
  /** A request has begun to wait, its place has changed, or it has left the queue without a reservation. */
  readonly onWaiting: (found: LedgerWaiting) => void;
  /** Everything was listed again: events may have been missed. */
  readonly onRelist: () => void;
}

interface Known {
  /** Differs between two states. */
  readonly version: string;
  readonly live: LedgerReservation | undefined;
  /** Of one that waits. */
  readonly waiting: LedgerWaiting | undefined;
}

/** The label selector for this cluster's Reservations in a role. */
export function labelSelectorOf(role: Role, clusterId: string): string {
  return `${role === "requester" ? KUBE_LABEL.requester : KUBE_LABEL.target}=${clusterId}`;
}

/** An index of the Reservation objects of one role. Live ones are kept in full, and those that wait; others only by version. */
export function createReservationIndex(
  role: Role,
  { log, onUpdate, onWaiting, onRelist }: ReservationIndexDeps,
) {
  const known = new Map<string, Known>();
  const names = new Map<string, string>();
  /** Ends found by a relist, which are sent after the reset. */
  const deferred: LedgerReservation[] = [];
  let listed: Set<string> | undefined;
  let wasListed = false;

  const put = (object: Reservation): void => {
    const { name } = object.metadata;
    const version = versionOf(object);
    listed?.add(name);
    if (known.get(name)?.version === version) return;
    const found = unlessUnreadable(object, (each) => readReservation(each, role), log);
    const live = found !== undefined && isLive(found.reservation.status.phase) ? found : undefined;
    forget(name);
    known.set(name, { version, live, waiting: putWaiting(object) });
    if (live !== undefined) names.set(live.reservation.id, name);
    if (found !== undefined) emit(found);
  };

  /** Returns a request that waits, which is kept. */
  const putWaiting = (object: Reservation): LedgerWaiting | undefined => {
    const found = role === "requester" ? unlessUnreadable(object, readWaiting, log) : undefined;
    // After a relist the reader asks for all that wait.
    if (found !== undefined && !isRelisting()) onWaiting(found);
    return found?.waiting.status.phase === "Pending" ? found : undefined;
  };

  const isRelisting = (): boolean => wasListed && listed !== undefined;

  const emit = (found: LedgerReservation): void => {
    if (!isRelisting()) onUpdate(found);
    else if (!isLive(found.reservation.status.phase)) deferred.push(found);
  };

  const forget = (name: string): void => {
    const id = known.get(name)?.live?.reservation.id;
    if (id !== undefined) names.delete(id);
    known.delete(name);
  };

  const sink: Sink<Reservation> = {
    beginList: () => {
      listed = new Set();
    },
    put,
    endList: () => {
      for (const name of known.keys()) if (listed?.has(name) === false) forget(name);
      listed = undefined;
      if (wasListed) onRelist();
      wasListed = true;
      for (const found of deferred.splice(0)) onUpdate(found);
    },
    remove: (object) => {
      // The last state may be the end. A deleted object alone is not: absence never releases anything.
      put(object);
      forget(object.metadata.name);
    },
  };

  return {
    sink,
    live: function* live(): Generator<LedgerReservation> {
      for (const entry of known.values()) if (entry.live !== undefined) yield entry.live;
    },
    waiting: function* waiting(): Generator<LedgerWaiting> {
      for (const entry of known.values()) if (entry.waiting !== undefined) yield entry.waiting;
    },
    /** The object name of a live reservation; a user's object may have any name. */
    nameOf: (id: string): string | undefined => names.get(id),
  };
}

function versionOf(object: Reservation): string {
  const { ledgerID = "", phase = "", generation = 0, lastUpdateTime = "" } = object.status ?? {};
  const { metadata, spec } = object;
  const target = isOrphaned(object) ? "orphaned" : (spec.targetClusterID ?? "");
  const placed = isOfQueue(object) ? lastUpdateTime : "";
  return [metadata.uid, ledgerID, phase, generation, target, placed].join("/");
}
