import { type Clock, Fault } from "@resource-broker/base";
import type { CapacityEventDTO, ReservationDTO } from "@resource-broker/contract";
import { isLive } from "@resource-broker/domain";
import type { ReflectorHealth } from "@resource-broker/kube";
import type { BrokerEvent, Role } from "../broker-communicator.ts";
import { apiServerFault } from "./api-calls.ts";
import type { BrokerHealth } from "./broker-health.ts";
import type { LedgerReservation, LedgerWaiting } from "./read-reservation.ts";

/** Interval of the health check of broker and watches; each success is a heartbeat for the reader. */
const HEALTH_CHECK_MS = 5_000;
/** Number of failed checks in a row before the stream fails: a broken watch usually recovers within seconds. */
const FAILED_CHECKS = 2;
/** Limit of pending events for a slow or absent reader. */
const MAX_PENDING = 1_000;

interface InstructionStreamDeps {
  readonly server: string;
  readonly brokerHealth: BrokerHealth;
  readonly clock: Clock;
  /** Resolves when all live reservations were read; rejects on failure or abort. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  readonly live: (role: Role) => Iterable<LedgerReservation>;
  readonly health: () => ReflectorHealth;
  /** An open stream counts as an answer of the broker. */
  readonly onOpen: () => void;
}

/** How a stream ended; `fault` undefined: normally. */
interface End {
  readonly fault: Fault | undefined;
}

/** Events of a cluster's reservations, for one reader at a time. A new reader continues where the last one stopped. */
export function createInstructionStream(deps: InstructionStreamDeps) {
  const { brokerHealth, clock } = deps;
  let pending: BrokerEvent[] = [];
  /** No reader yet: the first one starts with the live reservations, and earlier events are dropped. */
  let isFresh = true;
  let resetReason: string | undefined;
  let ledgerId: string | undefined;
  let isClosed = false;
  /** Callbacks of the current reader. */
  let wake = (): void => undefined;
  let end: (how: End) => void = () => undefined;

  const push = (event: BrokerEvent): void => {
    if (isFresh) return;
    if (pending.length >= MAX_PENDING) reset(`more than ${MAX_PENDING} changes were waiting to be read`);
    // After a reset the reader gets all live reservations again.
    if (resetReason === undefined || !isOfLive(event)) pending.push(event);
    wake();
  };

  /** Events may have been missed: the reader starts again. */
  const reset = (reason: string): void => {
    if (isFresh) return;
    resetReason = reason;
    // Ends are sent only once. If there are too many, the resync finds the older ones.
    pending = pending.filter((event) => !isOfLive(event)).slice(-MAX_PENDING / 2);
    wake();
  };

  const checkLedger = (): void => {
    const now = brokerHealth.ledgerId();
    if (now === undefined || now === ledgerId) return;
    const wasKnown = ledgerId !== undefined;
    ledgerId = now;
    if (!wasKnown) return;
    pending = [];
    reset("the broker has another ledger than before");
    end({ fault: undefined });
  };
  const stopChecking = brokerHealth.onRenewal(checkLedger);

  const initialEvents = (): BrokerEvent[] => {
    const events: BrokerEvent[] = [];
    for (const role of ["provider", "requester"] as const) {
      for (const found of deps.live(role))
        if (brokerHealth.isOfLedger(found)) events.push(eventOf(role, found.reservation));
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
      checkLedger();
      if (isFresh) pending = initialEvents();
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
    let failedChecks = 0;
    for (;;) {
      const end = ended();
      if (end?.fault !== undefined) throw end.fault;
      if (end !== undefined) return;
      if (resetReason !== undefined) {
        yield { kind: "reset", reset: { reason: resetReason } };
        pending = [...initialEvents(), ...pending];
        resetReason = undefined;
      } else if (pending[0] !== undefined) {
        yield* first(pending[0]);
      } else if (await idleFor(HEALTH_CHECK_MS, ended)) {
        failedChecks = deps.health().state === "failing" ? failedChecks + 1 : 0;
        checkHealth(failedChecks);
        yield { kind: "heartbeat" };
      }
    }
  }

  /** An event counts as seen when the reader asks for the next one. */
  function* first(event: BrokerEvent): Generator<BrokerEvent, void> {
    yield event;
    if (pending[0] === event) pending.shift();
  }

  const checkHealth = (failedChecks: number): void => {
    const health = deps.health();
    if (health.state === "failing" && failedChecks >= FAILED_CHECKS) {
      throw apiServerFault(deps.server, health.fault);
    }
    if (!brokerHealth.isAlive()) throw brokerHealth.unavailableFault();
  };

  /** False: an event has arrived. */
  const idleFor = async (ms: number, ended: () => End | undefined): Promise<boolean> => {
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
    update: (role: Role, found: LedgerReservation): void => {
      if (brokerHealth.isOfLedger(found)) push(eventOf(role, found.reservation));
    },
    waiting: (found: LedgerWaiting): void => {
      if (brokerHealth.isOfLedger(found)) push({ kind: "waiting", waiting: found.waiting });
    },
    capacity: (capacity: CapacityEventDTO): void => {
      // One pending event is enough for a slow reader.
      const isKnown = capacity.change === "freed" && pending.some(isFreed);
      if (!isKnown) push({ kind: "capacity", capacity });
    },
    reset,
    /** A watch broke. It recovers by itself, but the reader is notified. */
    broke: (problem: string): void =>
      end({ fault: new Fault("unreachable", `the watch of reservations broke: ${problem}`) }),
    close: (): void => {
      isClosed = true;
      stopChecking();
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

function isOfLive(event: BrokerEvent): boolean {
  return "reservation" in event && isLive(event.reservation.status.phase);
}
