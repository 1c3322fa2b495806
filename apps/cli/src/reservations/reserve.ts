import { randomUUID } from "node:crypto";
import { releaseCall, reserveCall } from "@resource-broker/client";
import { HEADER } from "@resource-broker/contract";
import type { Run } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { withBroker } from "../connection/broker.ts";
import type { RESERVE_OPTIONS } from "./options.ts";
import { printReservation } from "./print-reservation.ts";
import { readRequest } from "./read-request.ts";
import { asRequester, requesterFor } from "./requester.ts";

export const reserve: Run<typeof RESERVE_OPTIONS> = async ({ options }, host) => {
  const body = readRequest(options);
  // Always with a key: if a call is repeated at another replica, the reservation is made once.
  const { key = `brokerctl-${randomUUID()}`, output } = options;
  await withBroker(options, host, async (broker) => {
    const requester = requesterFor(options.for, broker);
    const { value, at, headers } = await broker.request(asRequester(reserveCall(body, key), requester));
    if (requester !== undefined && value.requesterID !== requester) {
      await broker.requestOptional(releaseCall(value.id));
      throw new CommandError(
        "error",
        `this broker is too old for --for: it reserved for ${value.requesterID}, and that reservation was released again; use the certificate of ${requester}`,
      );
    }
    const isKnown = headers[HEADER.idempotencyReplayed.toLowerCase()] === "true";
    host.note(isKnown ? "A reservation with this key exists already; nothing new was reserved\n" : "");
    printReservation(value, { at, output, host });
  });
};
