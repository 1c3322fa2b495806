import { connect, type TLSSocket } from "node:tls";
import {
  type AdvertisementDTO,
  HEADER,
  PATH,
  PROTOCOL_VERSION,
  type ReservationRequestDTO,
} from "@resource-broker/contract";
import type { Credentials } from "@resource-broker/testkit";

const HOST = "127.0.0.1";
const HEAD_END = "\r\n\r\n";

export interface Reply {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * One kept connection of one cluster, one request on its way at a time, written and read by hand: Node's own client would
 * take more time for a request than the broker does, and then it would be the client that is measured.
 */
export interface Connection {
  readonly clusterId: string;
  /** Rejects when the connection ends before the reply is whole. */
  readonly send: (request: string) => Promise<Reply>;
  /** From here on whatever arrives goes to `heard`: the reply has no end. */
  readonly stream: (request: string, heard: (chunk: Buffer) => void) => void;
  /** True as soon as it has ended, whoever ended it. */
  readonly isClosed: () => boolean;
  readonly close: () => void;
}

export interface ConnectionOptions {
  readonly clusterId: string;
  readonly credentials: Pick<Credentials, "cert" | "key" | "ca">;
  readonly port: number;
  /** Absent: the loopback. */
  readonly host?: string;
}

export function openConnection({
  clusterId,
  credentials,
  port,
  host = HOST,
}: ConnectionOptions): Promise<Connection> {
  const { cert, key, ca } = credentials;
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, cert, key, ca });
    socket.setNoDelay(true);
    socket.once("error", reject);
    socket.once("secureConnect", () => {
      socket.off("error", reject);
      resolve(onSocket(socket, clusterId));
    });
  });
}

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

function onSocket(socket: TLSSocket, clusterId: string): Connection {
  let waiting: Waiting | undefined;
  let partial: Buffer | undefined;
  let isClosed = false;

  const read = (chunk: Buffer): void => {
    const bytes = partial === undefined ? chunk : Buffer.concat([partial, chunk]);
    const reply = wholeReply(bytes);
    partial = reply === undefined ? bytes : undefined;
    if (reply === undefined) return;
    const waiter = waiting;
    waiting = undefined;
    waiter?.resolve(reply);
  };
  const ended = (problem: string): void => {
    isClosed = true;
    waiting?.reject(new Error(`a connection of ${clusterId} ended: ${problem}`));
    waiting = undefined;
  };

  socket.on("data", read);
  socket.on("error", (error: Error) => ended(error.message));
  socket.on("close", () => ended("closed by the broker"));
  return {
    clusterId,
    send: (request) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new Error(`the connection of ${clusterId} is closed`));
        if (waiting !== undefined) return reject(new Error(`${clusterId} still waits for a reply`));
        waiting = { resolve, reject };
        socket.write(request, "latin1");
      }),
    stream: (request, onData) => {
      socket.off("data", read);
      socket.on("data", onData);
      socket.write(request, "latin1");
    },
    isClosed: () => isClosed,
    close: () => {
      isClosed = true;
      socket.destroy();
    },
  };
}

/** Undefined: more is to come. */
export function wholeReply(bytes: Buffer): Reply | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const head = bytes.toString("latin1", 0, headEnd);
  const status = Number(head.slice(9, 12));
  const from = headEnd + HEAD_END.length;
  const length = /\r\nContent-Length: (\d+)/i.exec(head)?.[1];
  if (length !== undefined) {
    const to = from + Number(length);
    return bytes.length < to ? undefined : { status, body: bytes.subarray(from, to) };
  }
  if (!/\r\nTransfer-Encoding: chunked/i.test(head)) return { status, body: bytes.subarray(from, from) };
  const body = wholeChunks(bytes, from);
  return body === undefined ? undefined : { status, body };
}

/** Servers other than ours send replies in parts, each with its length before it in hexadecimal; the last one is empty. */
function wholeChunks(bytes: Buffer, from: number): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let at = from; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return undefined;
    const length = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    const begin = lineEnd + 2;
    if (!(bytes.length >= begin + length + 2)) return undefined;
    if (length === 0) return Buffer.concat(parts);
    parts.push(bytes.subarray(begin, begin + length));
    at = begin + length + 2;
  }
}

/** Requests as text, ready to be written on a connection. They must be pure ASCII. */
export function advertiseText(advertisement: AdvertisementDTO): string {
  return post(PATH.advertisements, advertisement);
}

/** Without a key nothing is deduplicated. */
export function reserveText(request: ReservationRequestDTO, key?: string): string {
  return post(PATH.reservations, request, key === undefined ? "" : `${HEADER.idempotencyKey}: ${key}\r\n`);
}

export function getText(path: string): string {
  return `GET ${path} HTTP/1.1\r\n${common()}\r\n`;
}

export function deleteText(path: string): string {
  return `DELETE ${path} HTTP/1.1\r\n${common()}\r\n`;
}

function post(path: string, content: unknown, more = ""): string {
  const body = JSON.stringify(content);
  const about = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `POST ${path} HTTP/1.1\r\n${common()}${more}${about}\r\n${body}`;
}

function common(): string {
  return `Host: 127.0.0.1\r\n${HEADER.agentProtocol}: ${PROTOCOL_VERSION}\r\n`;
}
