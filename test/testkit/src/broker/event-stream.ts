import type { Readable } from "node:stream";

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
  let rest = "";
  source.setEncoding("utf8");
  for await (const chunk of source) {
    const blocks = `${rest}${String(chunk)}`.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parse(block);
      if (event !== undefined) yield event;
    }
  }
  return undefined;
}

/** Undefined for what is no event: a heartbeat is a comment. */
function parse(block: string): StreamEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).trimStart());
  }
  const data = fields.get("data");
  const id = fields.get("id");
  if (data === undefined) return undefined;
  const parsed: unknown = JSON.parse(data);
  return { name: fields.get("event") ?? "message", data: parsed, ...(id === undefined ? {} : { id }) };
}
