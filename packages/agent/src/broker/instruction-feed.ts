import { type Clock, type Fault, type Log, toFault } from "@resource-broker/base";
import { backoff, failureReporter, loop, wait } from "@resource-broker/kube";
import type { WaitingRequest } from "../reservations/reservation.ts";
import type { ReservationCache } from "../reservations/reservation-cache.ts";
import type {
  BrokerCommunicator,
  CapacityChange,
  ReservationEvent,
} from "../transport/broker-communicator.ts";

interface FeedDeps {
  readonly communicator: Pick<BrokerCommunicator, "watch" | "listInstructions">;
  readonly cache: ReservationCache;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Called when the stream opens: events may have been missed. */
  readonly onMissedEvents: () => void;
  readonly onActivity: () => void;
  readonly onCapacity: (capacity: CapacityChange) => void;
  /** A request of this cluster has left the queue, or its place in it has changed. Absent: it is ignored. */
  readonly onWaiting?: (waiting: WaitingRequest) => void;
  /** What another cluster states to this one. Absent: it is ignored. */
  readonly onStatement?: (from: string, statement: string) => void;
}

const MAX_BACKOFF_MS = 5000;
/** An older broker may have been replaced by one that pushes, so the stream is tried again. */
const TRY_STREAM_AGAIN_MS = 5 * 60_000;

/**
 * Updates the cache with what the broker sends: pushed where it can, polled where it cannot. `pollIntervalMs` 0: no
 * polling.
 */
export function instructionFeed({ pollIntervalMs }: { readonly pollIntervalMs: number }, deps: FeedDeps) {
  const { communicator, cache, clock, log } = deps;
  const retries = backoff({ maxMs: MAX_BACKOFF_MS }, { ...clock, random: deps.random });
  const stream = failureReporter({
    log,
    clock,
    fields: {},
    what: "the broker's stream of instructions",
  });
  let isStreaming = false;
  let polledAt = 0;

  const handle = (event: ReservationEvent): void => {
    deps.onActivity();
    switch (event.kind) {
      case "instruction":
      case "reservation": {
        const role = event.kind === "instruction" ? "provider" : "requester";
        const learned = cache.update(role, event.reservation);
        if (learned === "not-ours") {
          const { id, requester: requesterID, provider: targetClusterID } = event.reservation;
          log.warn({ id, requesterID, targetClusterID }, "an instruction for another cluster is ignored");
        }
        return;
      }
      case "waiting":
        return deps.onWaiting?.(event.waiting);
      case "capacity":
        return deps.onCapacity(event.capacity);
      case "statement":
        return deps.onStatement?.(event.from, event.statement);
      case "reset":
        return deps.onMissedEvents();
      case "heartbeat":
        return;
    }
  };

  const follow = async (signal: AbortSignal): Promise<void> => {
    try {
      for await (const event of communicator.watch(signal)) {
        if (!isStreaming) {
          isStreaming = true;
          retries.succeeded();
          stream.recovered();
          deps.onMissedEvents();
        }
        handle(event);
      }
    } finally {
      isStreaming = false;
    }
  };

  const poll = async (forMs: number, signal: AbortSignal): Promise<void> => {
    const until = clock.monotonicMs() + forMs;
    while (!signal.aborted && clock.monotonicMs() < until) {
      if (pollIntervalMs > 0) await pollInsteadOfStream();
      await wait(pollIntervalMs > 0 ? pollIntervalMs : forMs, { clock, signal });
    }
  };

  const pollInsteadOfStream = async (): Promise<void> => {
    const fault = await pollOnce();
    if (fault === undefined) stream.recovered();
    else stream.failed(fault);
  };

  const pollOnce = async (): Promise<Fault | undefined> => {
    polledAt = clock.monotonicMs();
    try {
      for (const reservation of await communicator.listInstructions()) cache.update("provider", reservation);
      return undefined;
    } catch (error) {
      return toFault(error);
    }
  };

  /** A proxy may block streams and still let plain calls through. */
  const pollDuringOutage = async (fault: Fault): Promise<void> => {
    stream.failed(fault);
    const isDue = clock.monotonicMs() - polledAt >= pollIntervalMs;
    if (pollIntervalMs > 0 && isDue) await pollOnce();
  };

  const round = async (signal: AbortSignal): Promise<number> => {
    try {
      await follow(signal);
    } catch (error) {
      if (signal.aborted) return 0;
      const fault = toFault(error);
      if (fault.code === "unsupported") await poll(TRY_STREAM_AGAIN_MS, signal);
      else await pollDuringOutage(fault);
    }
    return retries.failed();
  };

  const { start, stop } = loop({ clock, round });
  return {
    start,
    stop,
    /** True while the broker pushes. */
    isStreaming: () => isStreaming,
  };
}
