import { once } from "node:events";
import { createServer as createPlainServer, type RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import type { Credentials } from "@resource-broker/testkit";

/** Where nobody listens. */
export const NOWHERE = "https://127.0.0.1:1";

type WhenDone = (cleanUp: () => Promise<void>) => void;

/** Something that listens where a broker should and answers as it is told; its address. */
export async function startFakeServer(
  credentials: Credentials,
  listener: RequestListener,
  whenDone: WhenDone,
): Promise<string> {
  const server = createServer({ cert: credentials.cert, key: credentials.key }, listener);
  return `https://127.0.0.1:${await listening(server, whenDone, () => server.closeAllConnections())}`;
}

/** The same without TLS, as on the port of a broker's probes. */
export async function startPlainServer(whenDone: WhenDone): Promise<string> {
  const server = createPlainServer((_, response) => response.end("ok"));
  return `https://127.0.0.1:${await listening(server, whenDone, () => server.closeAllConnections())}`;
}

async function listening(server: Server, whenDone: WhenDone, hangUp: () => void): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  whenDone(async () => {
    hangUp();
    server.close();
    await once(server, "close");
  });
  return (server.address() as AddressInfo).port;
}
