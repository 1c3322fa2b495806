import { type Clock, type Fault, type Log, toFault } from "@resource-broker/base";
import { backoff, failureReporter, wait } from "@resource-broker/kube";
import type { ReservationCache } from "../reservations/reservation-cache.ts";
import type {
  BrokerCommunicator,
  CapacityChange,
  ReservationEvent,
} from "../transport/broker-communicator.ts";

export interface FeedOptions {
  /** Poll interval where the broker does not push; 0: no polling. */
  readonly pollIntervalMs: number;
}

export interface FeedDeps {
  readonly communicator: Pick<BrokerCommunicator, "watchInstructions" | "fetchInstructions">;
  readonly cache: ReservationCache;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Called when the stream opens: events may have been missed. */
  readonly onMissedEvents: () => void;
  readonly onActivity: () => void;
  readonly onCapacity: (capacity: CapacityChange) => void;
}

export interface InstructionFeed {
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  /** True while the broker pushes. */
  readonly isStreaming: () => boolean;
}

const MAX_BACKOFF_MS = 5000;
/** An older broker may have been replaced by one that pushes, so the stream is tried again. */
const TRY_STREAM_AGAIN_MS = 5 * 60_000;

/** Updates the cache with what the broker sends: pushed where it can, polled where it cannot. */
export function instructionFeed({ pollIntervalMs }: FeedOptions, deps: FeedDeps): InstructionFeed {
  const { communicator, cache, clock, log } = deps;
  const ending = new AbortController();
  const { signal } = ending;
  const retries = backoff({ maxMs: MAX_BACKOFF_MS }, { ...clock, random: deps.random });
  const stream = failureReporter({
    log,
    clock,
    fields: {},
    what: "the broker's stream of instructions",
  });
  let isStreaming = false;
  let polledAt = 0;
  let running: Promise<void> = Promise.resolve();

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
      case "capacity":
        return deps.onCapacity(event.capacity);
      case "reset":
        return deps.onMissedEvents();
      case "heartbeat":
        return;
    }
  };

  const follow = async (): Promise<void> => {
    try {
      for await (const event of communicator.watchInstructions(signal)) {
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

  const poll = async (forMs: number): Promise<void> => {
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
      for (const reservation of await communicator.fetchInstructions()) cache.update("provider", reservation);
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

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await follow();
      } catch (error) {
        if (signal.aborted) return;
        const fault = toFault(error);
        if (fault.code === "unsupported") await poll(TRY_STREAM_AGAIN_MS);
        else await pollDuringOutage(fault);
      }
      await wait(retries.failed(), { clock, signal });
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
    isStreaming: () => isStreaming,
  };
}
