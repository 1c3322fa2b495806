import { connect, type TLSSocket } from "node:tls";
import type { Credentials } from "@resource-broker/testkit";

const HOST = "127.0.0.1";
const HEAD_END = Buffer.from("\r\n\r\n");
const LENGTH = "\r\nContent-Length: ";

export type Answered = (status: number, latencyMs: number) => void;

/** A connection on which requests are sent without waiting for answers, which come in the same order. */
export interface Pipeline {
  readonly clusterId: string;
  /** Requests that are not answered yet. */
  readonly waiting: () => number;
  readonly send: (request: string, answered: Answered) => void;
  readonly close: () => void;
}

export interface PipelineOptions {
  readonly clusterId: string;
  readonly credentials: Pick<Credentials, "cert" | "key" | "ca">;
  readonly port: number;
  readonly now: () => number;
}

export async function openPipeline(options: PipelineOptions): Promise<Pipeline> {
  const { cert, key, ca } = options.credentials;
  const socket = connect({ host: HOST, port: options.port, cert, key, ca });
  socket.setNoDelay(true);
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("secureConnect", resolve);
  });
  return pipelineOn(socket, options);
}

function pipelineOn(socket: TLSSocket, { clusterId, now }: PipelineOptions): Pipeline {
  const queue: { readonly sentAt: number; readonly answered: Answered }[] = [];
  let rest: Buffer = Buffer.alloc(0);
  socket.on("error", () => undefined);
  socket.on("data", (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let reply = firstReply(rest); reply !== undefined; reply = firstReply(rest)) {
      rest = rest.subarray(reply.length);
      const asked = queue.shift();
      asked?.answered(reply.status, now() - asked.sentAt);
    }
  });
  // A closed connection answers nothing any more: whoever waits is told.
  socket.once("close", () => {
    for (const { sentAt, answered } of queue.splice(0)) answered(0, now() - sentAt);
  });
  return {
    clusterId,
    waiting: () => (socket.destroyed ? Number.POSITIVE_INFINITY : queue.length),
    send: (request, answered) => {
      queue.push({ sentAt: now(), answered });
      socket.write(request, "latin1");
    },
    close: () => socket.destroy(),
  };
}

/** Undefined: more is to come. */
function firstReply(bytes: Buffer): { readonly status: number; readonly length: number } | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const head = bytes.toString("latin1", 0, headEnd);
  const at = head.indexOf(LENGTH);
  const body = at === -1 ? 0 : Number.parseInt(head.slice(at + LENGTH.length, at + LENGTH.length + 8), 10);
  const length = headEnd + HEAD_END.length + body;
  return bytes.length < length ? undefined : { status: Number(head.slice(9, 12)), length };
}
