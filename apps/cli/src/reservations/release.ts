import { PATH, reservationSchema } from "@resource-broker/contract";
import type { Run } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { withBroker } from "../connection/broker.ts";
import type { RELEASE_OPTIONS } from "./options.ts";
import { printReservation } from "./print-reservation.ts";
import { withHint } from "./read-reservations.ts";
import { pathFor, requesterFor } from "./requester.ts";
import { reservationIdIn } from "./reservation-id.ts";

export const release: Run<typeof RELEASE_OPTIONS> = async ({ options, words }, host) => {
  const { key, output } = options;
  const [word] = words;
  if ((word === undefined) === (key === undefined)) {
    throw new CommandError("usage", "say which to release: one reservation, or --key");
  }
  const id = reservationIdIn(word ?? "");
  await withBroker(options, host, async (broker) => {
    const path =
      key === undefined
        ? PATH.reservation(id)
        : pathFor(PATH.releaseByKey(key), requesterFor(options.for, broker));
    const { value, at } = await withHint(broker, id, () =>
      broker.requestOptional({ method: "DELETE", path }, reservationSchema),
    );
    if (value !== undefined) printReservation(value, { at, output, host });
    else host.note("No reservation has this key. The key is now released and cannot be used any more\n");
  });
};
