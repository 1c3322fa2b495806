import { type CapacityEventDTO, Fault, type ReservationDTO } from "@resource-broker/contract";
import { isLive } from "@resource-broker/domain";
import type { ReflectorHealth } from "@resource-broker/kube";
import type { Clock } from "@resource-broker/runtime";
import type { BrokerEvent, Role } from "../broker-communicator.ts";
import { apiServerAway } from "./api-calls.ts";
import type { Pulse } from "./pulse.ts";
import type { Told } from "./read-reservation.ts";

/** Interval of the health check of broker and watches; each success is a heartbeat for the reader. */
const LOOK_MS = 5_000;
/** Number of failed checks in a row before the stream fails: a broken watch usually recovers within seconds. */
const TROUBLED_LOOKS = 2;
/** Limit of pending events for a slow or absent reader. */
const MOST_PENDING = 1_000;

export interface InstructionStreamDeps {
  readonly server: string;
  readonly pulse: Pulse;
  readonly clock: Clock;
  /** Resolves when all live reservations were read; rejects on failure or abort. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  readonly live: (role: Role) => Iterable<Told>;
  readonly health: () => ReflectorHealth;
  /** An open stream counts as an answer of the broker. */
  readonly onOpen: () => void;
}

/** Events of a cluster's reservations, for one reader at a time. A new reader continues where the last one stopped. */
export interface InstructionStream {
  readonly watch: (signal: AbortSignal) => AsyncGenerator<BrokerEvent, void>;
  readonly news: (role: Role, told: Told) => void;
  readonly capacity: (capacity: CapacityEventDTO) => void;
  /** Events may have been missed: the reader starts again. */
  readonly reset: (reason: string) => void;
  /** A watch broke. It recovers on its own, but the reader is told. */
  readonly broke: (problem: string) => void;
  readonly close: () => void;
}

/** How a stream ended; `fault` undefined: normally. */
interface End {
  readonly fault: Fault | undefined;
}

export function createInstructionStream(deps: InstructionStreamDeps): InstructionStream {
  const { pulse, clock } = deps;
  let pending: BrokerEvent[] = [];
  /** No reader yet: the first one starts with the live reservations, and earlier events are dropped. */
  let isFresh = true;
  let resetReason: string | undefined;
  let ledgerId: string | undefined;
  let isClosed = false;
  /** Callbacks of the current reader. */
  let wake = (): void => undefined;
  let end: (how: End) => void = () => undefined;

  const isOfLedger = (told: Told): boolean =>
    told.ledgerId === undefined || told.ledgerId === pulse.ledgerId();

  const push = (event: BrokerEvent): void => {
    if (isFresh) return;
    if (pending.length >= MOST_PENDING) reset(`more than ${MOST_PENDING} changes were waiting to be read`);
    // After a reset the reader gets all live reservations again.
    if (resetReason === undefined || !isOfLiving(event)) pending.push(event);
    wake();
  };

  const reset = (reason: string): void => {
    if (isFresh) return;
    resetReason = reason;
    // Ends are sent only once. If there are too many, the resync finds the older ones.
    pending = pending.filter((event) => !isOfLiving(event)).slice(-MOST_PENDING / 2);
    wake();
  };

  const noticeLedger = (): void => {
    const now = pulse.ledgerId();
    if (now === undefined || now === ledgerId) return;
    const wasKnown = ledgerId !== undefined;
    ledgerId = now;
    if (!wasKnown) return;
    pending = [];
    reset("the broker has another ledger than before");
    end({ fault: undefined });
  };
  const stopNoticing = pulse.onBeat(noticeLedger);

  const beginning = (): BrokerEvent[] => {
    const events: BrokerEvent[] = [];
    for (const role of ["provider", "requester"] as const) {
      for (const told of deps.live(role)) if (isOfLedger(told)) events.push(eventOf(role, told.reservation));
    }
    return events;
  };

  async function* watch(signal: AbortSignal): AsyncGenerator<BrokerEvent, void> {
    end({ fault: undefined });
    let ended: End | undefined;
    end = (how) => {
      ended ??= how;
      wake();
    };
    const stop = (): void => end({ fault: undefined });
    const endThis = end;
    signal.addEventListener("abort", stop);
    try {
      if (signal.aborted || isClosed) return;
      await deps.ready(signal);
      noticeLedger();
      if (isFresh) pending = beginning();
      isFresh = false;
      deps.onOpen();
      yield { kind: "heartbeat" };
      yield* events(() => ended);
    } catch (error) {
      if (!signal.aborted && !isClosed) throw error;
    } finally {
      signal.removeEventListener("abort", stop);
      if (end === endThis) end = () => undefined;
    }
  }

  async function* events(ended: () => End | undefined): AsyncGenerator<BrokerEvent, void> {
    let troubledLooks = 0;
    for (;;) {
      const end = ended();
      if (end?.fault !== undefined) throw end.fault;
      if (end !== undefined) return;
      if (resetReason !== undefined) {
        yield { kind: "reset", reset: { reason: resetReason } };
        pending = [...beginning(), ...pending];
        resetReason = undefined;
      } else if (pending[0] !== undefined) {
        yield* first(pending[0]);
      } else if (await nothingFor(LOOK_MS, ended)) {
        troubledLooks = deps.health().state === "troubled" ? troubledLooks + 1 : 0;
        checkHealth(troubledLooks);
        yield { kind: "heartbeat" };
      }
    }
  }

  /** An event counts as seen when the reader asks for the next one. */
  function* first(event: BrokerEvent): Generator<BrokerEvent, void> {
    yield event;
    if (pending[0] === event) pending.shift();
  }

  const checkHealth = (troubledLooks: number): void => {
    const health = deps.health();
    if (health.state === "troubled" && troubledLooks >= TROUBLED_LOOKS) {
      throw apiServerAway(deps.server, health.fault);
    }
    if (!pulse.isAlive()) throw pulse.silence();
  };

  /** False: an event has arrived. */
  const nothingFor = async (ms: number, ended: () => End | undefined): Promise<boolean> => {
    const isThere = (): boolean => pending.length > 0 || resetReason !== undefined || ended() !== undefined;
    if (isThere()) return false;
    await new Promise<void>((resolve) => {
      const cancel = clock.after(ms, resolve);
      wake = () => {
        cancel();
        resolve();
      };
    });
    wake = () => undefined;
    return !isThere();
  };

  return {
    watch,
    news: (role, told) => {
      if (isOfLedger(told)) push(eventOf(role, told.reservation));
    },
    capacity: (capacity) => {
      // One pending event is enough for a slow reader.
      const isKnown = capacity.change === "freed" && pending.some(isFreed);
      if (!isKnown) push({ kind: "capacity", capacity });
    },
    reset,
    broke: (problem) =>
      end({ fault: new Fault("unreachable", `the watch of reservations broke: ${problem}`) }),
    close: () => {
      isClosed = true;
      stopNoticing();
      end({ fault: undefined });
    },
  };
}

function eventOf(role: Role, reservation: ReservationDTO): BrokerEvent {
  return { kind: role === "provider" ? "instruction" : "reservation", reservation };
}

function isFreed(event: BrokerEvent): boolean {
  return event.kind === "capacity" && event.capacity.change === "freed";
}

function isOfLiving(event: BrokerEvent): boolean {
  return "reservation" in event && isLive(event.reservation.status.phase);
}
