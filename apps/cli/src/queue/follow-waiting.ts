import { isReserved, reservationCall } from "@resource-broker/client";
import type { ReservationDTO } from "@resource-broker/contract";
import type { Host } from "../cli/command.ts";
import type { Answer, Broker } from "../connection/broker.ts";
import { patiently } from "../connection/patience.ts";
import { isLeft, leftQueue } from "./waiting.ts";

const FIRST_POLL_MS = 1000;
const LONGEST_POLL_MS = 10_000;
const GROWTH = 1.5;

/**
 * Looks at a waiting request until it is granted, and says on standard error whenever its place or its reason is another.
 * Whoever stops looking, by Ctrl-C or because the broker is gone, is told that the request still waits.
 */
export async function followWaiting(broker: Broker, id: string, host: Host): Promise<Answer<ReservationDTO>> {
  const ignore = host.onInterrupt?.(() => `\n${stillWaits(id)}`);
  try {
    return await whenGranted(broker, id, host);
  } finally {
    ignore?.();
  }
}

export function stillWaits(id: string): string {
  return `${id} keeps waiting in the queue. To look: brokerctl describe reservation ${id}. To give it up: brokerctl release ${id}\n`;
}

async function whenGranted(broker: Broker, id: string, host: Host): Promise<Answer<ReservationDTO>> {
  let said = "";
  let pauseMs = FIRST_POLL_MS;
  for (;;) {
    const { value, ...answer } = await patiently(() => broker.request(reservationCall(id)), host).catch(
      (error: unknown) => {
        host.note(stillWaits(id));
        throw error;
      },
    );
    if (isReserved(value)) return { ...answer, value };
    if (isLeft(value)) throw leftQueue(value);
    const { message } = value.status;
    if (message !== said) host.note(`${message}\n`);
    pauseMs = message === said ? Math.min(pauseMs * GROWTH, LONGEST_POLL_MS) : FIRST_POLL_MS;
    said = message;
    await host.pause(pauseMs);
  }
}
