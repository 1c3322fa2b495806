import type { Fetch } from "../net/api-client.ts";

/** One open stream, as the broker holds it. */
export interface FakeStream {
  readonly lastEventId: string | null;
  readonly send: (text: string) => void;
  readonly end: () => void;
  readonly isAborted: () => boolean;
}

export interface FakeEvents {
  readonly fetch: Fetch;
  readonly streams: FakeStream[];
  /** What is answered instead of a stream: a status, or nothing at all. */
  refusal: number | "unreachable" | "silent" | undefined;
}

/** The broker's `/api/v1/events`, whose streams a test speaks into. */
export function fakeEvents(): FakeEvents {
  const events: FakeEvents = {
    streams: [],
    refusal: undefined,
    fetch: (_path, init) => {
      if (events.refusal === "unreachable") return Promise.reject(new TypeError("failed to fetch"));
      if (events.refusal === "silent") return new Promise(() => undefined);
      if (events.refusal !== undefined) return Promise.resolve(new Response("", { status: events.refusal }));
      const { stream, response } = openStream(init);
      events.streams.push(stream);
      return Promise.resolve(response);
    },
  };
  return events;
}

function openStream(init: RequestInit): { readonly stream: FakeStream; readonly response: Response } {
  const headers = new Headers(init.headers);
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isAborted = false;
  const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  init.signal?.addEventListener("abort", () => {
    isAborted = true;
    controller?.error(new DOMException("aborted", "AbortError"));
  });
  const stream: FakeStream = {
    lastEventId: headers.get("Last-Event-ID"),
    send: (text) => controller?.enqueue(encoder.encode(text)),
    end: () => controller?.close(),
    isAborted: () => isAborted,
  };
  return { stream, response: new Response(body, { status: 200 }) };
}
