import { randomUUID } from "node:crypto";
import { HEADER, PATH, reservationSchema } from "@resource-broker/contract";
import type { Run } from "../cli/command.ts";
import { withBroker } from "../connection/broker.ts";
import type { RESERVE_OPTIONS } from "./options.ts";
import { printReservation } from "./print-reservation.ts";
import { readRequest } from "./read-request.ts";

export const reserve: Run<typeof RESERVE_OPTIONS> = async ({ options }, host) => {
  const body = readRequest(options);
  // Always with a key: when a replica is asked after another one broke off, nothing is booked twice.
  const { key = `brokerctl-${randomUUID()}`, output } = options;
  await withBroker(options, host, async (broker) => {
    const { name, isAdmin } = broker.credentials;
    if (isAdmin) {
      host.note(
        `Note: the requester is ${name}, an admin. An agent acts only on what its own cluster reserves: use that cluster's certificate for it\n`,
      );
    }
    const call = { method: "POST", path: PATH.reservations, body, key } as const;
    const { value, at, headers } = await broker.ask(call, reservationSchema);
    const isKnown = headers[HEADER.idempotencyReplayed.toLowerCase()] === "true";
    host.note(isKnown ? "This key has made it before; nothing new was booked\n" : "");
    printReservation(value, { at, output, host });
  });
};
