import type { Clock } from "@resource-broker/runtime";
import type { BrokerView } from "../reservations/expiry.ts";
import type { BrokerCommunicator } from "../transport/broker-communicator.ts";
import { brokerTime } from "./broker-time.ts";

/** After this time without an answer, the broker cannot be asked whether a reservation has ended. */
const SILENT_AFTER_MS = 60_000;

/** What is known of the broker from its answers. */
export interface BrokerLink {
  readonly view: () => BrokerView;
  /** The broker's time; before its first answer the local clock. */
  readonly now: () => number;
  /** Records activity that is no answer, such as an event of the stream. */
  readonly heard: () => void;
  readonly ledgerId: () => string | undefined;
  /** False: an older broker, which ignores idempotency keys. Undefined: it has not answered yet. */
  readonly isCurrent: () => boolean | undefined;
  /** Called when another ledger answers: the broker has lost its state. */
  readonly onNewLedger: (listener: () => void) => void;
  readonly stop: () => void;
}

export function brokerLink(communicator: Pick<BrokerCommunicator, "onContact">, clock: Clock): BrokerLink {
  const time = brokerTime(clock);
  const listeners: (() => void)[] = [];
  const startedAt = clock.monotonicMs();
  let heardAt: number | undefined;
  let ledgerId: string | undefined;
  let isCurrent: boolean | undefined;

  const heard = (): void => {
    heardAt = clock.monotonicMs();
  };
  const stop = communicator.onContact((contact) => {
    heard();
    ({ isCurrent } = contact);
    if (contact.brokerTimeMs !== undefined) time.observe(contact.brokerTimeMs);
    const isNew = ledgerId !== undefined && contact.ledgerId !== undefined && contact.ledgerId !== ledgerId;
    ledgerId = contact.ledgerId ?? ledgerId;
    if (isNew) for (const listener of listeners) listener();
  });
  const now = (): number => time.now() ?? clock.wallMs();

  return {
    view: () => ({
      now: time.now(),
      isSilent: clock.monotonicMs() - (heardAt ?? startedAt) > SILENT_AFTER_MS,
      isOlder: isCurrent === false,
    }),
    now,
    heard,
    ledgerId: () => ledgerId,
    isCurrent: () => isCurrent,
    onNewLedger: (listener) => void listeners.push(listener),
    stop,
  };
}
