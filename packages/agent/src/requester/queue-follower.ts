import { toFault } from "@resource-broker/base";
import { failureReporter, loop } from "@resource-broker/kube";
import type { AgentParts } from "../core/agent-deps.ts";
import { isFault } from "../faults.ts";
import type { WaitingRequest } from "../reservations/reservation.ts";

/** The broker walks through its whole queue for an answer: it is asked for all requests at once, and not more often. */
const LIST_EVERY_MS = 60_000;
/** Requests come in bursts: one list serves all of them. */
const DEBOUNCE_MS = 1000;

type QueueFollowerDeps = Pick<AgentParts, "communicator" | "clock" | "log" | "link" | "waiting" | "objects">;

/**
 * Asks for the places of the waiting requests: every minute while there are any, and once after each new connection, for
 * requests of an earlier process. Those that are missing are forgotten, so that their controller looks them up.
 */
export function queueFollower({ communicator, clock, log, link, waiting, objects }: QueueFollowerDeps) {
  const what = "asking for the waiting requests";
  const reporter = failureReporter({ log, clock, fields: {}, what });
  let isDue = true;
  let listedAt = Number.NEGATIVE_INFINITY;

  const listed = async (): Promise<readonly WaitingRequest[]> => {
    try {
      return await communicator.listWaiting();
    } catch (error) {
      if (isFault(error, "unsupported")) return [];
      throw error;
    }
  };

  const compare = async (): Promise<void> => {
    const before = waiting.pending();
    const found = await listed();
    const ids = new Set(found.map(({ id }) => id));
    for (const each of found) waiting.update(each);
    for (const { id } of before) if (!ids.has(id)) waiting.forget(id);
    // Nothing waits: the first request that does need not wait a minute for its place.
    if (waiting.pending().length === 0) listedAt = Number.NEGATIVE_INFINITY;
  };

  const round = async (): Promise<number> => {
    waiting.removeLeft((uid) => objects.requestByUid(uid) === undefined);
    if (!isDue && waiting.pending().length === 0) return LIST_EVERY_MS;
    const restMs = listedAt + LIST_EVERY_MS - clock.monotonicMs();
    if (restMs > 0) return restMs;
    listedAt = clock.monotonicMs();
    try {
      if (link.canQueue() === false) waiting.forgetAll();
      else await compare();
      isDue = false;
      reporter.recovered();
    } catch (error) {
      reporter.failed(toFault(error));
    }
    return LIST_EVERY_MS;
  };
  const { start, stop, wake } = loop({ clock, round, debounceMs: DEBOUNCE_MS });

  return {
    start,
    stop,
    /** A request has begun to wait, or capacity is kept for it: its place is asked for as soon as that is allowed. */
    wake,
    /** Events may have been missed. */
    reconnected: (): void => {
      isDue = true;
      wake();
    },
    /** Another ledger answers: what waited there is unknown to it. */
    ledgerChanged: (): void => {
      waiting.forgetAll();
      isDue = true;
      listedAt = Number.NEGATIVE_INFINITY;
      wake();
    },
  };
}
