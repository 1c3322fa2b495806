import { once } from "node:events";
import { createServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import { testCertificates } from "@resource-broker/testkit";

/** Sees every request on its way to an API server: what a client did is known, not believed. */
export interface RecordingProxy {
  readonly url: string;
  /** PEM of the authority behind its certificate. */
  readonly ca: string;
  /** `GET /api/v1/pods`, each with its query. */
  readonly seen: readonly string[];
  readonly close: () => Promise<void>;
}

/** Logins must travel in headers: the server behind it sees the proxy's connection. */
export async function startRecordingProxy(port: number): Promise<RecordingProxy> {
  const { broker } = await testCertificates();
  const seen: string[] = [];
  const server = createServer({ cert: broker.cert, key: broker.key }, (incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    seen.push(`${method} ${path}`);
    const options = { host: "127.0.0.1", port, method, path, headers, rejectUnauthorized: false };
    const passed = request(options, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${own}`,
    ca: broker.ca,
    seen,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
