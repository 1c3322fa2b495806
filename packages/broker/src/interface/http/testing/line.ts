import { connect, type TLSSocket } from "node:tls";
import type { ClientCredentials } from "./call.ts";

/** A connection in the test's own hands: it may say what no HTTP client would. */
export interface Line {
  readonly socket: TLSSocket;
  readonly send: (text: string | Buffer) => void;
  /** Everything heard so far. */
  readonly heard: () => string;
  /** Resolves with everything heard once it holds the text. */
  readonly hears: (text: string | RegExp) => Promise<string>;
  /** Asks with GET and resolves with what comes next. */
  readonly ask: (path: string, headers?: readonly string[]) => Promise<string>;
  readonly closed: Promise<string>;
  /** What lets a client resume this session later. */
  readonly session: () => Buffer | undefined;
}

export async function openLine(
  port: number,
  credentials: ClientCredentials,
  session?: Buffer,
): Promise<Line> {
  let ticket: Buffer | undefined;
  let heard = "";
  const socket = connect({ port, host: "localhost", ...credentials, ...(session && { session }) });
  socket.setEncoding("utf8");
  socket.on("error", () => undefined);
  socket.on("session", (next: Buffer) => {
    ticket = next;
  });
  socket.on("data", (text: string) => {
    heard += text;
  });
  const closed = new Promise<string>((resolve) => void socket.once("close", () => resolve(heard)));
  await new Promise<void>((resolve, reject) => {
    socket.once("secureConnect", resolve);
    socket.once("error", reject);
  });
  const hears = (wanted: string | RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const isThere = (): boolean =>
        typeof wanted === "string" ? heard.includes(wanted) : wanted.test(heard);
      const look = (): void => {
        if (!isThere()) return;
        socket.off("data", look);
        resolve(heard);
      };
      socket.on("data", look);
      socket.once("close", () => (isThere() ? resolve(heard) : reject(new Error(`closed after: ${heard}`))));
      look();
    });
  return {
    socket,
    closed,
    hears,
    heard: () => heard,
    send: (text) => void socket.write(text),
    ask: (path, headers = []) => {
      heard = "";
      socket.write([`GET ${path} HTTP/1.1`, "Host: broker", ...headers, "", ""].join("\r\n"));
      return hears(/\r\n\r\n[^]/);
    },
    session: () => ticket,
  };
}
