import type { ResourceRequest } from "@resource-broker/contract/crd";
import { isFinal } from "@resource-broker/domain";
import type { ReconcileResult } from "@resource-broker/kube";
import type { AgentParts } from "../core/agent-deps.ts";
import { ignoring, isFault } from "../faults.ts";
import { attemptKey } from "../reservations/reservation.ts";
import { waitsByStatus } from "./plan-waiting.ts";
import type { RequestStatus } from "./request-status.ts";

/** Releases all reservations of a deleted request, including one that a running attempt may still get. */
export function releaseController(
  deps: Pick<AgentParts, "cache" | "waiting" | "communicator" | "recordEvent" | "log">,
) {
  const { cache, communicator, waiting } = deps;
  const deleted = new Map<string, ResourceRequest>();
  /** UIDs that an older broker cannot release: each resync finds them again, so they are logged once. */
  const reported = new Set<string>();

  /** Releases everything that a request of this UID has reserved, until the broker confirms it. */
  const reconcile = async (uid: string): Promise<ReconcileResult> => {
    const request = deleted.get(uid);
    const ids = liveReservationsOf(uid, request);
    try {
      for (const key of keysToClose(uid, request)) await closeKey(key);
      for (const id of ids) await release(id);
      if (ids.length > 0) recordEventOf(request, "Released", `released ${ids.join(", ")}`);
    } catch (error) {
      if (!isFault(error, "unsupported")) throw error;
      tooOld(uid, request, ids);
    }
    if (deleted.get(uid) === request) deleted.delete(uid);
    return {};
  };

  /** Of attempts that may still get a reservation. */
  const keysToClose = (uid: string, request: ResourceRequest | undefined): ReadonlySet<string> => {
    const keys = new Set<string>();
    for (const { key, phase } of waiting.ofRequest(uid).values())
      if (key !== undefined && !isFinal(phase)) keys.add(key);
    const open = request && openAttempt(uid, request.status ?? {});
    return open === undefined ? keys : keys.add(attemptKey(uid, open));
  };

  const liveReservationsOf = (uid: string, request: ResourceRequest | undefined): string[] => {
    const live = [...cache.ofRequest(uid).values()].filter(({ endedAt }) => endedAt === undefined);
    const ids = new Set(live.map(({ reservation }) => reservation.id));
    for (const { id, phase: of } of waiting.ofRequest(uid).values()) if (!isFinal(of)) ids.add(id);
    const { phase, reservationName } = request?.status ?? {};
    // A reservation that only the status names: the cache may not have it, or a broker without keys made it.
    if (reservationName !== undefined && phase !== undefined && !isFinal(phase)) {
      const entry = cache.get("requester", reservationName);
      if (entry?.endedAt === undefined) ids.add(reservationName);
    }
    return [...ids];
  };

  /** The attempt that waits by the status, or the next one, which may be running. */
  const openAttempt = (uid: string, status: RequestStatus): number | undefined => {
    const { phase = "Pending", attempts = 0 } = status;
    const open = waitsByStatus(status) ? attempts : attempts + 1;
    // A live reservation is released by its ID: with a closed key, a broker that lost it could not adopt it.
    return phase !== "Pending" || cache.ofRequest(uid).has(open) ? undefined : open;
  };

  /** A late call with a closed key reserves nothing; what waits with it, or has just been granted, is released. */
  const closeKey = (key: string): Promise<unknown> =>
    // The broker may have no room for more closed keys; if this one still reserves something, the next resync finds it.
    communicator.releaseByKey(key).catch(ignoring("quota-exceeded"));

  const release = async (id: string): Promise<void> => {
    await communicator.release(id);
    waiting.forget(id);
    const ended = await communicator.getReservation(id);
    // The broker does not know it, but the provider does: it is offered for adoption and released afterwards.
    if (ended === undefined) cache.markUnknown(id);
    else {
      deps.log.info({ reservation: id }, "released");
      cache.update("requester", ended);
    }
  };

  const tooOld = (uid: string, request: ResourceRequest | undefined, ids: readonly string[]): void => {
    if (reported.has(uid) || ids.length === 0) return;
    reported.add(uid);
    deps.log.warn(
      { uid, reservations: ids },
      "the broker cannot release reservations: it is too old, or none is configured",
    );
    const what = `the broker cannot release ${ids.join(", ")}`;
    recordEventOf(
      request,
      "ReleaseUnsupported",
      `${what}: it ends when it expires, or ask the broker's operator`,
    );
  };

  const recordEventOf = (
    regarding: ResourceRequest | undefined,
    reason: "Released" | "ReleaseUnsupported",
    message: string,
  ): void => {
    const type = reason === "Released" ? "Normal" : "Warning";
    if (regarding !== undefined) deps.recordEvent({ regarding, type, reason, message });
  };

  return {
    /** A ResourceRequest was deleted. Returns the key to reconcile. */
    noteDeleted: (request: ResourceRequest): string => {
      const { uid = "" } = request.metadata;
      deleted.set(uid, request);
      return uid;
    },
    reconcile,
  };
}
