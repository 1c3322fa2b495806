import type { EventName } from "@resource-broker/contract";

/** One server-sent event without its end: an id may still be added to it. JSON has no line breaks of its own. */
export function eventText(name: EventName, body: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(body)}\n`;
}

/**
 * Events that belong to one commit. Only the last one carries the commit's number: a reader cut off in between asks for
 * all of them again.
 */
export function eventsText(events: readonly string[], commit: number | undefined): string {
  return `${events.join("\n")}${commit === undefined ? "" : `id: ${commit}\n`}\n`;
}

/** A comment that keeps the connection alive and carries the current event id. */
export function heartbeatText(commit: number | undefined): string {
  return `: alive\n${commit === undefined ? "" : `id: ${commit}\n`}\n`;
}
