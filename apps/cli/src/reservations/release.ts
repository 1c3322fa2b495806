import { releaseByKeyCall, releaseCall } from "@resource-broker/client";
import type { Run } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { withBroker } from "../connection/broker.ts";
import type { RELEASE_OPTIONS } from "./options.ts";
import { printReservation } from "./print-reservation.ts";
import { withHint } from "./read-reservations.ts";
import { asRequester, requesterFor } from "./requester.ts";
import { reservationIdIn } from "./reservation-id.ts";

export const release: Run<typeof RELEASE_OPTIONS> = async ({ options, words }, host) => {
  const { key, output } = options;
  const [word] = words;
  if ((word === undefined) === (key === undefined)) {
    throw new CommandError("usage", "say which to release: one reservation, or --key");
  }
  const id = reservationIdIn(word ?? "");
  await withBroker(options, host, async (broker) => {
    const call =
      key === undefined
        ? releaseCall(id)
        : asRequester(releaseByKeyCall(key), requesterFor(options.for, broker));
    const { value, at } = await withHint(broker, id, () => broker.requestOptional(call));
    if (value !== undefined) printReservation(value, { at, output, host });
    else host.note("No reservation has this key. The key is now released and cannot be used any more\n");
  });
};
