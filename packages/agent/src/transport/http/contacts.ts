import type { IncomingHttpHeaders } from "node:http";
import { HEADER } from "@resource-broker/contract";
import type { Contact } from "../broker-communicator.ts";
import { contactListeners } from "../contact-listeners.ts";
import { isFromCurrentBroker } from "./reply.ts";

/** Reports the metadata of every answer. */
export interface Contacts {
  readonly report: (headers: IncomingHttpHeaders) => void;
  readonly onContact: (listener: (contact: Contact) => void) => () => void;
}

export function createContacts(): Contacts {
  const { report, onContact } = contactListeners();
  return { report: (headers) => report(() => readContact(headers)), onContact };
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
