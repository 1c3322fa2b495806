import { finished } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Fault } from "@resource-broker/base";
import type { Exchange } from "./exchange.ts";

/** Maximum number of chunks per batch. */
const LARGEST_BURST = 64;

/**
 * The chunks of a reply in batches. Reading pauses while the consumer works. Ends when the reply is complete; throws when it is
 * interrupted.
 */
export async function* burstsOf({ response, abortedBy }: Exchange): AsyncGenerator<readonly Buffer[]> {
  const arrived: { chunks: Buffer[]; end: { readonly error: Error | undefined } | undefined } = {
    chunks: [],
    end: undefined,
  };
  let wake = (): void => undefined;
  response.on("data", (chunk: Buffer) => {
    arrived.chunks.push(chunk);
    wake();
  });
  finished(response, (error) => {
    arrived.end = { error: error ?? undefined };
    wake();
  });
  const something = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
      if (arrived.chunks.length > 0 || arrived.end !== undefined) resolve();
    });

  try {
    for (;;) {
      response.resume();
      await something();
      await untilQuiet(arrived);
      response.pause();
      const { chunks } = arrived;
      arrived.chunks = [];
      if (chunks.length > 0) yield chunks;
      else if (arrived.end?.error !== undefined) throw abortedBy() ?? arrived.end.error;
      else if (arrived.end !== undefined) return;
    }
  } finally {
    response.destroy();
  }
}

/** Waits a few event loop iterations until no more buffered chunks arrive. */
async function untilQuiet(arrived: { readonly chunks: readonly Buffer[] }): Promise<void> {
  for (let seen = 0; seen < arrived.chunks.length && seen < LARGEST_BURST; ) {
    seen = arrived.chunks.length;
    await nextTurn();
  }
}

/**
 * Passes the chunks of a reply to a synchronous consumer, without a promise per chunk. Rejects with the error when `take`
 * throws.
 */
export function takeChunks(
  { response, abortedBy }: Exchange,
  take: (chunk: Buffer) => void,
  explain = (error: Error) => error,
): Promise<void> {
  return new Promise((resolve, reject) => {
    finished(response, (error) => {
      if (error === undefined || error === null) resolve();
      else reject(explain(abortedBy() ?? error));
    });
    response.on("data", (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- passed on as it is
        reject(error);
        response.destroy();
      }
    });
  });
}

/** The whole reply, never more than `limit` bytes of it. */
export async function bytesOf(exchange: Exchange, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const take = (chunk: Buffer): void => {
    size += chunk.length;
    if (size > limit) {
      throw new Fault("too-large", `the API server's reply is larger than ${limit / 1024 / 1024} MiB`);
    }
    chunks.push(chunk);
  };
  await takeChunks(exchange, take);
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

/** Discards a reply so that its connection can be reused. */
export function discard({ response }: Exchange): void {
  response.resume();
}
