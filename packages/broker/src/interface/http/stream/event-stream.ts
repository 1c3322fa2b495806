import type { ServerResponse } from "node:http";
import type { EventName } from "@resource-broker/contract";
import type { ClusterId } from "@resource-broker/domain";

/** Events of the stream of everything. */
type LiveEventName = "hello" | "changes" | "reset";

/** Events of a long list are written in pieces of about this size. */
const CHUNK_LENGTH = 16 * 1024;

export interface EventStreamOptions {
  readonly response: ServerResponse;
  readonly clusterId: ClusterId;
  readonly isAdmin: boolean;
  readonly isOlderAgent: boolean;
  readonly protocol: number;
  readonly maxBufferBytes: number;
  /** The commit that a reader has seen everything of, once the backlog is through. */
  readonly commit: () => number;
}

/** The stream of one reader. A reader that is too slow is disconnected. */
export class EventStream {
  readonly clusterId: ClusterId;
  readonly isAdmin: boolean;
  readonly isOlderAgent: boolean;
  readonly protocol: number;
  readonly #options: EventStreamOptions;
  #backlog: Iterator<string> | undefined;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.clusterId = options.clusterId;
    this.isAdmin = options.isAdmin;
    this.isOlderAgent = options.isOlderAgent;
    this.protocol = options.protocol;
  }

  /** True while the reader lags behind what was written. */
  get isLagging(): boolean {
    return this.#options.response.writableNeedDrain;
  }

  /** Sends the events of one commit; returns false if the reader lags behind. */
  send(events: readonly string[]): boolean {
    return this.write(eventsText(events, this.#position));
  }

  heartbeat(): boolean {
    return this.write(heartbeatText(this.#position));
  }

  /** The commit number that the reader has seen; undefined while the initial list is being written. */
  get #position(): number | undefined {
    return this.#backlog === undefined ? this.#options.commit() : undefined;
  }

  /** Writes; false when the reader lags behind. */
  write(text: string): boolean {
    const { response, maxBufferBytes } = this.#options;
    if (response.destroyed || response.writableEnded) return true;
    const flows = response.write(text);
    if (response.writableLength > maxBufferBytes) this.drop();
    return flows;
  }

  /** Writes a list, waiting for the reader where needed. */
  catchUp(backlog: Iterator<string>): void {
    this.#backlog = backlog;
    this.#continue();
  }

  drop(): void {
    this.#options.response.destroy();
  }

  end(): void {
    this.#options.response.end();
  }

  readonly #continue = (): void => {
    const { response } = this.#options;
    while (this.#backlog !== undefined && !response.destroyed) {
      const chunk = takeChunk(this.#backlog);
      if (chunk.isLast) this.#backlog = undefined;
      const flows = this.send(chunk.events);
      if (!flows && this.#backlog !== undefined) {
        response.once("drain", this.#continue);
        return;
      }
    }
  };
}

function takeChunk(backlog: Iterator<string>): { readonly events: string[]; readonly isLast: boolean } {
  const events: string[] = [];
  let length = 0;
  while (length < CHUNK_LENGTH) {
    const next = backlog.next();
    if (next.done === true) return { events, isLast: true };
    events.push(next.value);
    length += next.value.length;
  }
  return { events, isLast: false };
}

/** One server-sent event without its end: an id may still be added to it. JSON has no line breaks of its own. */
export function eventText(name: EventName | LiveEventName, body: unknown): string {
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
  return eventsText([": alive\n"], commit);
}

/** What a reader is told whose last event is not known: it has to read everything again. */
export function resetText(lastEventId: string): string {
  const reason = `event ${JSON.stringify(lastEventId.slice(0, 20))} is unknown or too old`;
  return eventText("reset", { reason });
}

/** The commit that a reader has seen everything of; undefined: its last event is none of ours. */
export function commitIn(lastEventId: string): number | undefined {
  return /^[0-9]{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
}

/** The stream ends with the connection, so chunked encoding is not needed. */
export function beginStream(response: ServerResponse, headers: readonly string[]): void {
  response.useChunkedEncodingByDefault = false;
  const own = ["Content-Type", "text/event-stream", "Cache-Control", "no-store", "Connection", "close"];
  response.writeHead(200, [...headers, ...own]);
}
