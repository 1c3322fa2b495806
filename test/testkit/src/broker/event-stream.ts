import type { Readable } from "node:stream";
import { createEventParser } from "@resource-broker/client";

/** One server-sent event. */
export interface StreamEvent {
  readonly name: string;
  readonly data: unknown;
  /** The commit number; only the last event of a commit carries it. */
  readonly id?: string;
}

export interface EventStream extends AsyncIterable<StreamEvent> {
  /** The next event; rejects when the stream ends before. */
  readonly next: () => Promise<StreamEvent>;
  readonly close: () => void;
}

export function eventStream(source: Readable): EventStream {
  const events = read(source);
  return {
    [Symbol.asyncIterator]: () => events,
    next: async () => {
      const { done, value } = await events.next();
      if (done === true) throw new Error("the stream has ended");
      return value;
    },
    close: () => void source.destroy(),
  };
}

async function* read(source: Readable): AsyncGenerator<StreamEvent, undefined> {
  const parser = createEventParser();
  source.setEncoding("utf8");
  for await (const piece of source) {
    for (const { name, data, id } of parser.push(String(piece))) {
      // A heartbeat has no data.
      if (data === undefined) continue;
      const parsed: unknown = JSON.parse(data);
      yield { name, data: parsed, ...(id === undefined ? {} : { id }) };
    }
  }
  return undefined;
}
