import { connect, type TLSSocket } from "node:tls";
import type { Credentials } from "@resource-broker/testkit";

const HOST = "127.0.0.1";
const HEAD_END = "\r\n\r\n";
const LENGTH = "\r\nContent-Length: ";

/** Called with the status of the reply, and its body when one is wanted. */
export type Answered = (status: number, body: Buffer) => void;

/**
 * One kept connection with one request on its way at a time, written and read by hand: a load generator on Node's own
 * client would need more time for each request than the broker does.
 */
export interface Connection {
  readonly clusterId: string;
  readonly send: (request: string, answered: Answered) => void;
  /** From here on whatever arrives goes to `heard`; the reply to `request` has no end. */
  readonly stream: (request: string, heard: (text: string) => void) => void;
  readonly close: () => void;
}

export interface ConnectOptions {
  readonly clusterId: string;
  readonly credentials: Pick<Credentials, "cert" | "key" | "ca">;
  readonly port: number;
}

export function openConnection({ clusterId, credentials, port }: ConnectOptions): Promise<Connection> {
  const { cert, key, ca } = credentials;
  return new Promise((resolve, reject) => {
    const socket = connect({ host: HOST, port, cert, key, ca });
    socket.setNoDelay(true);
    socket.once("error", reject);
    socket.once("secureConnect", () => {
      socket.off("error", reject);
      resolve(onSocket(socket, clusterId));
    });
  });
}

function onSocket(socket: TLSSocket, clusterId: string): Connection {
  let waiting: Answered | undefined;
  let partial: Buffer | undefined;
  let isClosing = false;

  const read = (chunk: Buffer): void => {
    const bytes = partial === undefined ? chunk : Buffer.concat([partial, chunk]);
    const reply = wholeReply(bytes);
    if (reply === undefined) {
      partial = bytes;
      return;
    }
    partial = undefined;
    const answered = waiting;
    waiting = undefined;
    answered?.(reply.status, reply.body);
  };

  socket.on("data", read);
  socket.on("error", (error) => {
    if (!isClosing) throw error;
  });
  socket.on("close", () => {
    if (!isClosing) throw new Error(`the broker closed a connection of ${clusterId}`);
  });
  return {
    clusterId,
    send: (request, answered) => {
      waiting = answered;
      socket.write(request, "latin1");
    },
    stream: (request, heard) => {
      socket.off("data", read);
      socket.on("data", (chunk: Buffer) => heard(chunk.toString("latin1")));
      socket.write(request, "latin1");
    },
    close: () => {
      isClosing = true;
      socket.destroy();
    },
  };
}

/** Undefined: more is to come. */
function wholeReply(bytes: Buffer): { readonly status: number; readonly body: Buffer } | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const head = bytes.toString("latin1", 0, headEnd);
  const at = head.indexOf(LENGTH);
  const length = at === -1 ? 0 : Number.parseInt(head.slice(at + LENGTH.length, at + LENGTH.length + 8), 10);
  const from = headEnd + HEAD_END.length;
  if (bytes.length < from + length) return undefined;
  return { status: Number(head.slice(9, 12)), body: bytes.subarray(from, from + length) };
}
