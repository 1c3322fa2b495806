import { parseDuration } from "@resource-broker/base";
import { renewCall } from "@resource-broker/client";
import type { Run } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { withBroker } from "../connection/broker.ts";
import type { RENEW_OPTIONS } from "./options.ts";
import { printReservation } from "./print-reservation.ts";
import { withHint } from "./read-reservations.ts";
import { reservationIdIn } from "./reservation-id.ts";

export const renew: Run<typeof RENEW_OPTIONS> = async ({ options, words }, host) => {
  const id = reservationIdIn(words[0] ?? "");
  const { duration, output } = options;
  const parsed = parseDuration(duration);
  if (!parsed.ok) throw new CommandError("usage", `--duration: ${parsed.problem}`);
  await withBroker(options, host, async (broker) => {
    const { value, at } = await withHint(broker, id, () => broker.request(renewCall(id, duration)));
    if (value.status.expiresAt === undefined) {
      host.note("It lasts until it is released: there was nothing to renew\n");
    }
    printReservation(value, { at, output, host });
  });
};
