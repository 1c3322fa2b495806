import { KUBE_LABEL, type Reservation } from "@resource-broker/contract";
import { isLive } from "@resource-broker/domain";
import { type Sink, toFault } from "@resource-broker/kube";
import type { Log } from "@resource-broker/runtime";
import type { Role } from "../broker-communicator.ts";
import { isOrphaned, readReservation, type Told } from "./read-reservation.ts";

export interface BoardDeps {
  readonly log: Log;
  /** A reservation is new, or has changed. */
  readonly onNews: (told: Told) => void;
  /** Everything was read anew: something may have been missed. */
  readonly onListedAnew: () => void;
}

/** What the objects of one role say. Of what is live the newest state is kept, of the rest only which one was told. */
export interface Board {
  readonly sink: Sink<Reservation>;
  readonly live: () => Iterable<Told>;
  /** The object of a live reservation; a person's may have any name. */
  readonly nameOf: (id: string) => string | undefined;
}

interface Known {
  /** Tells two states apart. */
  readonly mark: string;
  readonly live: Told | undefined;
}

/** Which Reservations are a cluster's in this role. */
export function labelSelectorOf(role: Role, clusterId: string): string {
  return `${role === "requester" ? KUBE_LABEL.requester : KUBE_LABEL.target}=${clusterId}`;
}

export function createBoard(role: Role, { log, onNews, onListedAnew }: BoardDeps): Board {
  const known = new Map<string, Known>();
  const names = new Map<string, string>();
  /** Ends that a list brings to light, while something may have been missed. */
  const late: Told[] = [];
  let listed: Set<string> | undefined;
  let wasListed = false;

  const read = (object: Reservation): Told | undefined => {
    try {
      return readReservation(object, role);
    } catch (error) {
      // It must not keep the others away.
      const line = { reservation: object.metadata.name, error: toFault(error).message };
      log.warn(line, "a Reservation that cannot be read is left out");
      return undefined;
    }
  };

  const put = (object: Reservation): void => {
    const { name } = object.metadata;
    const mark = markOf(object);
    listed?.add(name);
    if (known.get(name)?.mark === mark) return;
    const told = read(object);
    const live = told !== undefined && isLive(told.reservation.status.phase) ? told : undefined;
    forget(name);
    known.set(name, { mark, live });
    if (live !== undefined) names.set(live.reservation.id, name);
    if (told !== undefined) tell(told);
  };

  const tell = (told: Told): void => {
    const isLate = wasListed && listed !== undefined;
    if (!isLate) onNews(told);
    else if (!isLive(told.reservation.status.phase)) late.push(told);
  };

  const forget = (name: string): void => {
    const id = known.get(name)?.live?.reservation.id;
    if (id !== undefined) names.delete(id);
    known.delete(name);
  };

  return {
    sink: {
      beginList: () => {
        listed = new Set();
      },
      put,
      endList: () => {
        for (const name of known.keys()) if (listed?.has(name) === false) forget(name);
        listed = undefined;
        if (wasListed) onListedAnew();
        wasListed = true;
        for (const told of late.splice(0)) onNews(told);
      },
      remove: (object) => {
        // Its last state may be its end. That it is gone says nothing: absence is never a release.
        put(object);
        forget(object.metadata.name);
      },
    },
    live: function* live() {
      for (const entry of known.values()) if (entry.live !== undefined) yield entry.live;
    },
    nameOf: (id) => names.get(id),
  };
}

function markOf(object: Reservation): string {
  const { ledgerID = "", phase = "", generation = 0 } = object.status ?? {};
  const { metadata, spec } = object;
  const standing = isOrphaned(object) ? "orphaned" : (spec.targetClusterID ?? "");
  return [metadata.uid, ledgerID, phase, generation, standing].join("/");
}
