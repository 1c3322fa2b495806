import { connect, type TLSSocket } from "node:tls";
import type { ClientCredentials } from "./call.ts";

/** A connection in the test's own hands: it may say what no HTTP client would. */
export interface RawConnection {
  readonly socket: TLSSocket;
  readonly send: (text: string | Buffer) => void;
  /** Everything heard so far. */
  readonly received: () => string;
  /** Resolves with everything heard once it holds the text. */
  readonly hears: (text: string | RegExp) => Promise<string>;
  /** Asks with GET and resolves with what comes next. */
  readonly ask: (path: string, headers?: readonly string[]) => Promise<string>;
  readonly closed: Promise<string>;
  /** What lets a client resume this session later. */
  readonly session: () => Buffer | undefined;
}

export async function openRawConnection(
  port: number,
  credentials: ClientCredentials,
  session?: Buffer,
): Promise<RawConnection> {
  let ticket: Buffer | undefined;
  let received = "";
  const socket = connect({ port, host: "localhost", ...credentials, ...(session && { session }) });
  socket.setEncoding("utf8");
  socket.on("error", () => undefined);
  socket.on("session", (next: Buffer) => {
    ticket = next;
  });
  socket.on("data", (text: string) => {
    received += text;
  });
  const closed = new Promise<string>((resolve) => void socket.once("close", () => resolve(received)));
  await new Promise<void>((resolve, reject) => {
    socket.once("secureConnect", resolve);
    socket.once("error", reject);
  });
  const receives = (wanted: string | RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const isThere = (): boolean =>
        typeof wanted === "string" ? received.includes(wanted) : wanted.test(received);
      const look = (): void => {
        if (!isThere()) return;
        socket.off("data", look);
        resolve(received);
      };
      socket.on("data", look);
      socket.once("close", () =>
        isThere() ? resolve(received) : reject(new Error(`closed after: ${received}`)),
      );
      look();
    });
  return {
    socket,
    closed,
    hears: receives,
    received: () => received,
    send: (text) => void socket.write(text),
    ask: (path, headers = []) => {
      received = "";
      socket.write([`GET ${path} HTTP/1.1`, "Host: broker", ...headers, "", ""].join("\r\n"));
      return receives(/\r\n\r\n[^]/);
    },
    session: () => ticket,
  };
}
