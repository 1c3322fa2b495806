import type { IncomingHttpHeaders } from "node:http";
import { HEADER } from "@resource-broker/contract";
import type { ResponseMetadata } from "../broker-communicator.ts";
import { responseListeners } from "../contact-listeners.ts";
import { isFromCurrentBroker } from "./reply.ts";

/** Reports the metadata of every answer. */
export interface ResponseReporter {
  readonly report: (headers: IncomingHttpHeaders) => void;
  readonly onResponse: (listener: (contact: ResponseMetadata) => void) => () => void;
}

export function createResponseReporter(): ResponseReporter {
  const { report, onResponse } = responseListeners();
  return { report: (headers) => report(() => readResponseMetadata(headers)), onResponse };
}

export function ledgerIdIn(headers: IncomingHttpHeaders): string | undefined {
  const ledgerId = headers[HEADER.ledgerId.toLowerCase()];
  return typeof ledgerId === "string" && ledgerId !== "" ? ledgerId : undefined;
}

function readResponseMetadata(headers: IncomingHttpHeaders): ResponseMetadata {
  const time = Date.parse(headers.date ?? "");
  return {
    ledgerId: ledgerIdIn(headers),
    brokerTimeMs: Number.isNaN(time) ? undefined : time,
    isCurrent: isFromCurrentBroker(headers),
  };
}
