import { type Clock, Fault, type Log, toFault } from "@resource-broker/base";
import { failureReporter, wait } from "@resource-broker/kube";
import { attemptOf } from "../reservations/reservation.ts";
import type { ReservationCache } from "../reservations/reservation-cache.ts";
import type { BrokerCommunicator, Role } from "../transport/broker-communicator.ts";

export interface ResyncDeps {
  readonly communicator: Pick<BrokerCommunicator, "fetchReservations" | "fetchReservation">;
  readonly cache: ReservationCache;
  /** The UIDs of all ResourceRequests in the cluster, listed at the API server. */
  readonly requestUids: () => Promise<ReadonlySet<string>>;
  /** Called with the UID of a deleted request that still has a live reservation. */
  readonly onOrphan: (uid: string) => void;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Log;
}

/** A list may be stale: a request counts as deleted when two lists this far apart miss it. */
const CONFIRM_AFTER_MS = 30_000;

export interface Resync {
  /** Compares the cached reservations with the broker's and with the ResourceRequests in the cluster. */
  readonly run: () => Promise<void>;
  /** True while a request is missing for the first time, so that the next run comes soon. */
  readonly hasMissing: () => boolean;
}

export function createResync(deps: ResyncDeps): Resync {
  const { communicator, cache, clock, log } = deps;
  /** Missing requests, by UID, with the time of the first miss. */
  const missingSince = new Map<string, number>();

  const compareWithBroker = async (role: Role): Promise<void> => {
    const listed = await communicator.fetchReservations(role).catch(emptyIfUnsupported);
    for (const reservation of listed) cache.update(role, reservation);
    const ids = new Set(listed.map(({ id }) => id));
    for (const { reservation } of cache.live(role)) {
      if (!ids.has(reservation.id)) await lookUp(role, reservation.id);
    }
  };

  /** A reservation that is missing from a list has not ended: the broker is asked by ID, and only a final phase ends it. */
  const lookUp = async (role: Role, id: string): Promise<void> => {
    const found = await communicator.fetchReservation(id).catch(skipIfUnsupported);
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
    for (const { reservation } of cache.live("requester")) {
      const made = attemptOf(reservation.key);
      if (made !== undefined) held.add(made.uid);
    }
    if (held.size === 0) return missingSince.clear();
    const wanted = await deps.requestUids();
    for (const uid of missingSince.keys()) if (wanted.has(uid) || !held.has(uid)) missingSince.delete(uid);
    for (const uid of held) if (!wanted.has(uid)) noteMissing(uid);
  };

  const noteMissing = (uid: string): void => {
    const since = missingSince.get(uid);
    if (since === undefined) missingSince.set(uid, clock.monotonicMs());
    else if (clock.monotonicMs() - since >= CONFIRM_AFTER_MS) {
      missingSince.delete(uid);
      deps.onOrphan(uid);
    }
  };

  return {
    run: async () => {
      await compareWithBroker("requester");
      await compareWithBroker("provider");
      cache.prune();
      await findOrphans();
    },
    hasMissing: () => missingSince.size > 0,
  };
}

/** Older brokers have no list by role; most answer for a single reservation. */
function emptyIfUnsupported(error: unknown): readonly [] {
  if (error instanceof Fault && error.code === "unsupported") return [];
  throw error;
}

/** The first releases do not even answer for a single reservation; there it ends at its expiry. */
function skipIfUnsupported(error: unknown): "cannot-tell" {
  if (error instanceof Fault && error.code === "unsupported") return "cannot-tell";
  throw error;
}

const RESYNC_MS = 60_000;
const RETRY_MS = 30_000;
/** Triggers come in bursts: one resync serves all of them. */
const DEBOUNCE_MS = 100;

interface ResyncLoopDeps {
  readonly resync: Resync;
  /** Offers the broker the reservations that it does not know. */
  readonly offer: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs a resync every minute, sooner while something is missing, and at once after a trigger. */
interface ResyncLoop {
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  readonly trigger: () => void;
}

export function resyncLoop({ resync, offer, clock, log }: ResyncLoopDeps): ResyncLoop {
  const reporter = failureReporter({
    log,
    clock,
    fields: {},
    what: "comparing reservations with the broker",
  });
  const ending = new AbortController();
  let wakeUp = new AbortController();
  let running: Promise<void> = Promise.resolve();

  const runOnce = async (): Promise<void> => {
    try {
      await resync.run();
      await offer();
      reporter.recovered();
    } catch (error) {
      reporter.failed(toFault(error));
    }
  };
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await runOnce();
      const pauseMs = resync.hasMissing() || reporter.current() !== undefined ? RETRY_MS : RESYNC_MS;
      await wait(pauseMs, { clock, signal: AbortSignal.any([ending.signal, wakeUp.signal]) });
      if (wakeUp.signal.aborted) {
        wakeUp = new AbortController();
        await wait(DEBOUNCE_MS, { clock, signal: ending.signal });
      }
    }
  };

  return {
    start: () => {
      running = run();
    },
    stop: async () => {
      ending.abort();
      await running;
    },
    trigger: () => wakeUp.abort(),
  };
}
