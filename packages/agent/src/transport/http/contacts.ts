import type { IncomingHttpHeaders } from "node:http";
import { HEADER } from "@resource-broker/contract";
import type { Contact } from "../broker-communicator.ts";
import { isFromCurrentBroker } from "./reply.ts";

/** Passes on what every answer says by the way. */
export interface Contacts {
  readonly report: (headers: IncomingHttpHeaders) => void;
  readonly onContact: (listener: (contact: Contact) => void) => () => void;
}

export function createContacts(): Contacts {
  const listeners = new Set<(contact: Contact) => void>();
  return {
    report: (headers) => {
      if (listeners.size === 0) return;
      const contact = readContact(headers);
      for (const listener of listeners) listener(contact);
    },
    onContact: (listener) => {
      // Wrapped: the same function may be handed in twice, and each is stopped by itself.
      const entry = (contact: Contact): void => listener(contact);
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
  };
}

export function ledgerIdIn(headers: IncomingHttpHeaders): string | undefined {
  const ledgerId = headers[HEADER.ledgerId.toLowerCase()];
  return typeof ledgerId === "string" && ledgerId !== "" ? ledgerId : undefined;
}

function readContact(headers: IncomingHttpHeaders): Contact {
  const time = Date.parse(headers.date ?? "");
  return {
    ledgerId: ledgerIdIn(headers),
    brokerTimeMs: Number.isNaN(time) ? undefined : time,
    isCurrent: isFromCurrentBroker(headers),
  };
}
