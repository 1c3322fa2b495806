import type { UiEvent } from "@resource-broker/contract";

/** One server-sent event. JSON has no line breaks of its own, so no name of a cluster can end it early. */
export function eventText({ event, data }: UiEvent, id: number | undefined): string {
  const idLine = id === undefined ? "" : `id: ${id}\n`;
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n${idLine}\n`;
}

/** Nothing happened, and the connection works. */
export const HEARTBEAT = ": alive\n\n";

/** How soon a browser calls again when it was cut off. */
export const RETRY = "retry: 1000\n\n";
