import { Fault } from "@resource-broker/contract";
import type { Exchange } from "./exchange.ts";

/** The bytes of a reply as they come. Ends only when the reply is whole; throws when it breaks off. */
export async function* chunksOf({ response, brokenOffBy }: Exchange): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of response) yield toBuffer(chunk);
  } catch (error) {
    throw brokenOffBy() ?? error;
  }
}

/** The whole reply, never more than `limit` bytes of it. */
export async function bytesOf(exchange: Exchange, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunksOf(exchange)) {
    size += chunk.length;
    if (size > limit) {
      exchange.response.destroy();
      throw new Fault("too-large", `the API server's reply is larger than ${limit / 1024 / 1024} MiB`);
    }
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

/** Throws a reply away so that its connection can be used again. */
export function discard({ response }: Exchange): void {
  response.resume();
}

function toBuffer(chunk: unknown): Buffer {
  if (Buffer.isBuffer(chunk)) return chunk;
  throw new TypeError("a reply is read as bytes");
}
