import { toFault } from "@resource-broker/base";
import { LIMIT } from "@resource-broker/contract";
import { failureReporter, type Loop, loop } from "@resource-broker/kube";
import type { AgentParts } from "../core/agent-deps.ts";
import { isFault } from "../faults.ts";
import { RESOURCE_REQUESTS } from "../manifests/labels.ts";
import { attemptOf } from "../reservations/reservation.ts";
import type { CachedReservation } from "../reservations/reservation-cache.ts";
import type { AdoptionResult, Role } from "../transport/broker-communicator.ts";

const RESYNC_MS = 60_000;
const RETRY_MS = 30_000;
/** Triggers come in bursts: one resync serves all of them. */
const DEBOUNCE_MS = 100;
/** A list may be stale: a request counts as deleted when two lists this far apart miss it. */
const CONFIRM_AFTER_MS = 30_000;

interface ResyncDeps
  extends Pick<AgentParts, "client" | "communicator" | "cache" | "waiting" | "clock" | "log"> {
  /** Called with the UID of a deleted request that still has a live reservation, or waits. */
  readonly onOrphan: (uid: string) => void;
}

/**
 * Compares the cached reservations with the broker's and with the ResourceRequests in the cluster, and offers the broker
 * what it does not know: every minute, sooner while something is missing, and at once after `wake`.
 */
export function createResync(deps: ResyncDeps): Loop {
  const { client, communicator, cache, clock, log } = deps;
  const what = "comparing reservations with the broker";
  const reporter = failureReporter({ log, clock, fields: {}, what });
  /** Missing requests, by UID, with the time of the first miss. */
  const missingSince = new Map<string, number>();
  /** The logged outcome of the last offer, by reservation. */
  const loggedOutcomes = new Map<string, string>();

  const compareWithBroker = async (role: Role): Promise<void> => {
    // Older brokers have no list by role; most answer for a single reservation.
    const listed = await communicator.listReservations(role).catch(ifUnsupported([]));
    for (const reservation of listed) cache.update(role, reservation);
    const ids = new Set(listed.map(({ id }) => id));
    for (const { reservation } of cache.live(role)) {
      if (!ids.has(reservation.id)) await lookUp(role, reservation.id);
    }
  };

  /** A reservation that is missing from a list has not ended: the broker is asked by ID, and only a final phase ends it. */
  const lookUp = async (role: Role, id: string): Promise<void> => {
    // The first releases do not even answer for a single reservation; there it ends at its expiry.
    const found = await communicator.getReservation(id).catch(ifUnsupported("cannot-tell" as const));
    if (found === "cannot-tell") return;
    if (found !== undefined) {
      cache.update(role, found);
      return;
    }
    if (cache.get(role, id)?.syncState !== "unknown") {
      log.warn(
        { reservation: id, role },
        "the broker does not know the reservation; it is kept and offered for adoption",
      );
    }
    cache.markUnknown(id);
  };

  const findOrphans = async (): Promise<void> => {
    const held = new Set<string>();
    const keys = cache.live("requester").map(({ reservation }) => reservation.key);
    for (const key of [...keys, ...deps.waiting.pending().map((each) => each.key)]) {
      const made = attemptOf(key);
      if (made !== undefined) held.add(made.uid);
    }
    if (held.size === 0) return missingSince.clear();
    const wanted = await requestUids();
    for (const uid of missingSince.keys()) if (wanted.has(uid) || !held.has(uid)) missingSince.delete(uid);
    for (const uid of held) if (!wanted.has(uid)) noteMissing(uid);
  };

  /** Listed at the API server: the informer may lag. */
  const requestUids = async (): Promise<ReadonlySet<string>> => {
    const uids = new Set<string>();
    await client.list(RESOURCE_REQUESTS, {}, ({ metadata }) => {
      if (metadata.uid !== undefined && metadata.deletionTimestamp === undefined) uids.add(metadata.uid);
    });
    return uids;
  };

  const noteMissing = (uid: string): void => {
    const since = missingSince.get(uid);
    if (since === undefined) missingSince.set(uid, clock.monotonicMs());
    else if (clock.monotonicMs() - since >= CONFIRM_AFTER_MS) {
      missingSince.delete(uid);
      deps.onOrphan(uid);
    }
  };

  /** Offers the broker the reservations that it does not know. Nothing is torn down, whatever it answers. */
  const offerUnknown = async (): Promise<void> => {
    const unknown = [...cache.live("requester"), ...cache.live("provider")].filter(
      ({ syncState }) => syncState === "unknown",
    );
    for (let from = 0; from < unknown.length; from += LIMIT.adoptionOffers) {
      const entries = unknown.slice(from, from + LIMIT.adoptionOffers);
      const offers = entries.map(({ reservation }) => reservation);
      // An older broker has no adoption.
      const results = await communicator.adopt(offers).catch(ifUnsupported([]));
      for (const result of results) applyResult(entries, result);
    }
  };

  const applyResult = (entries: readonly CachedReservation[], result: AdoptionResult): void => {
    const { id, outcome, message, reservation } = result;
    if (loggedOutcomes.get(id) !== outcome) {
      loggedOutcomes.set(id, outcome);
      const line = { reservation: id, outcome, message };
      if (outcome === "adopted") log.info(line, "the broker adopted an unknown reservation");
      else log.warn(line, "the broker has not adopted an unknown reservation yet");
    }
    if (outcome !== "adopted") cache.markNotAdopted(id, message);
    const entry = entries.find((each) => each.reservation.id === id);
    if (entry !== undefined && reservation !== undefined) cache.update(entry.role, reservation);
  };

  const round = async (): Promise<number> => {
    try {
      await compareWithBroker("requester");
      await compareWithBroker("provider");
      cache.prune();
      await findOrphans();
      await offerUnknown();
      reporter.recovered();
    } catch (error) {
      reporter.failed(toFault(error));
    }
    return missingSince.size > 0 || reporter.current() !== undefined ? RETRY_MS : RESYNC_MS;
  };
  return loop({ clock, round, debounceMs: DEBOUNCE_MS });
}

function ifUnsupported<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (isFault(error, "unsupported")) return instead;
    throw error;
  };
}
