import type { Clock } from "@resource-broker/base";
import type { BrokerView } from "../reservations/expiry.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";
import { serverTime } from "../server-time.ts";

/** After this time without an answer, the broker cannot be asked whether a reservation has ended. */
const SILENT_AFTER_MS = 60_000;

export type BrokerLink = ReturnType<typeof brokerLink>;

/** What is known of the broker from its answers. */
export function brokerLink(communicator: Pick<BrokerCommunicator, "onResponse">, clock: Clock) {
  const time = serverTime(clock);
  const listeners: (() => void)[] = [];
  const startedAt = clock.monotonicMs();
  let lastSeenAt: number | undefined;
  let ledgerId: string | undefined;
  /** False: an older broker, which ignores idempotency keys. Undefined: it has not answered yet. */
  let isCurrent: boolean | undefined;
  /** False: a broker without a queue for requests. Undefined: it has not answered yet. */
  let canQueue: boolean | undefined;

  /** Records activity, also such that is no answer, such as an event of the stream. */
  const markSeen = (): void => {
    lastSeenAt = clock.monotonicMs();
  };
  const stop = communicator.onResponse((response) => {
    markSeen();
    ({ isCurrent, canQueue } = response);
    if (response.brokerTimeMs !== undefined) time.observe(response.brokerTimeMs);
    const isNew = ledgerId !== undefined && response.ledgerId !== undefined && response.ledgerId !== ledgerId;
    ledgerId = response.ledgerId ?? ledgerId;
    if (isNew) for (const listener of listeners) listener();
  });
  /** The broker's time; before its first answer the local clock. */
  const now = (): number => time.now() ?? clock.wallMs();

  return {
    view: (): BrokerView => ({
      now: time.now(),
      isSilent: clock.monotonicMs() - (lastSeenAt ?? startedAt) > SILENT_AFTER_MS,
      isOlder: isCurrent === false,
    }),
    now,
    markSeen,
    ledgerId: () => ledgerId,
    isCurrent: () => isCurrent,
    /** True: requests may wait there. */
    canQueue: () => canQueue,
    /** Called when another ledger answers: the broker has lost its state. */
    onNewLedger: (listener: () => void): void => void listeners.push(listener),
    stop,
  };
}
