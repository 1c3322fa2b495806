import { connect as connectPlainly, type Socket } from "node:net";
import { connect } from "node:tls";
import type { SeededRandom } from "@resource-broker/testkit";
import type { Attack, FuzzEnvironment } from "../environment.ts";

const HOST = "127.0.0.1";
const SILENCE_MS = 1500;
const SMUGGLED = "GET /api/v1/policy HTTP/1.1\r\nHost: smuggled\r\n\r\n";
const POST = "POST /api/v1/quotes HTTP/1.1\r\nHost: broker\r\nContent-Type: application/json\r\n";
const GET = "GET /api/v1/reservations HTTP/1.1\r\nHost: broker\r\n";

/** What an HTTP parser and one behind it could understand differently. None of these may be served. */
const SMUGGLING: readonly (readonly [name: string, bytes: string])[] = [
  ["both lengths", `${POST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  [
    "both lengths, the other way",
    `${POST}Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\nX${SMUGGLED}`,
  ],
  ["two lengths", `${POST}Content-Length: 0\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`],
  ["a list of lengths", `${POST}Content-Length: 0, ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`],
  ["a length with a sign", `${POST}Content-Length: +0\r\n\r\n${SMUGGLED}`],
  ["a length below nothing", `${POST}Content-Length: -1\r\n\r\n${SMUGGLED}`],
  ["a length in hexadecimal", `${POST}Content-Length: 0x0\r\n\r\n${SMUGGLED}`],
  ["a length that is no number", `${POST}Content-Length: zero\r\n\r\n${SMUGGLED}`],
  ["a length beyond counting", `${POST}Content-Length: 99999999999999999999999\r\n\r\n${SMUGGLED}`],
  ["an unknown encoding", `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ["chunked and identity", `${POST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ["chunked twice", `${POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ["a tab in the encoding", `${POST}Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ["a space before the colon", `${POST}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ["a folded header", `${POST}X: a\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ["a carriage return in a header", `${POST}X: a\rContent-Length: 0\r\n\r\n${SMUGGLED}`],
  ["a NUL in a header", `${POST}X: a\0b\r\nContent-Length: 0\r\n\r\n${SMUGGLED}`],
  ["a header without a name", `${POST}: x\r\nContent-Length: 0\r\n\r\n${SMUGGLED}`],
  ["a chunk size that is none", `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n${SMUGGLED}`],
  ["a chunk size below nothing", `${POST}Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n${SMUGGLED}`],
  [
    "a chunk size beyond counting",
    `${POST}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n${SMUGGLED}`,
  ],
  [
    "a chunk that is longer than it says",
    `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  ["a space in the address", `GET /api/v1/reservations HTTP/1.1 HTTP/1.1\r\nHost: broker\r\n\r\n${SMUGGLED}`],
  ["no version", `GET /api/v1/reservations\r\n\r\n${SMUGGLED}`],
  ["another version", `GET /api/v1/reservations HTTP/3.7\r\nHost: broker\r\n\r\n${SMUGGLED}`],
  ["HTTP/2 by prior knowledge", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["an unknown method", `SMUGGLE /api/v1/reservations HTTP/1.1\r\nHost: broker\r\n\r\n${SMUGGLED}`],
  ["no host", `GET /api/v1/policy HTTP/1.1\r\n\r\n`],
  ["a header of 32 KB", `${GET}X: ${"x".repeat(32_768)}\r\n\r\n`],
  ["3,000 headers", `${GET}${Array.from({ length: 3000 }, (_, each) => `X-${each}: x\r\n`).join("")}\r\n`],
  ["an address of 32 KB", `GET /${"a".repeat(32_768)} HTTP/1.1\r\nHost: broker\r\n\r\n`],
];

export const smuggling: Attack = {
  name: "smuggling vectors and broken requests over TLS",
  weight: 4,
  run: async (env, random) => {
    const [name, bytes] = random.pick(SMUGGLING) ?? ["", ""];
    const received = await sendOverTls(env, random, bytes);
    const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
    const served = statuses.filter((status) => status < 400 || status >= 500);
    return served.length === 0 ? undefined : `${name}: answered with ${statuses.join(", ")}`;
  },
};

/** Bytes that are no TLS, no HTTP, or neither; on every port. */
export const noise: Attack = {
  name: "noise on every port",
  weight: 2,
  run: async ({ broker }, random) => {
    const { port, probePort, metricsPort } = broker;
    const bytes = Buffer.from(Array.from({ length: random.between(1, 3000) }, () => random.below(256)));
    const start = random.pick([
      bytes,
      Buffer.from("GET /healthz HTTP/1.1\r\n\r\n"),
      Buffer.from([0x16, 3, 1, 0xff, 0xff]),
    ]);
    const to = random.pick([port, probePort, metricsPort]) ?? port;
    const received = await exchange(connectPlainly({ host: HOST, port: to }), "connect", {
      bytes: start ?? bytes,
      withinMs: SILENCE_MS,
    });
    return /HTTP\/1\.1 5\d\d/.test(received)
      ? `noise on port ${to} was answered with ${received.slice(0, 200)}`
      : undefined;
  },
};

function sendOverTls(env: FuzzEnvironment, random: SeededRandom, bytes: string): Promise<string> {
  const { cert, key, ca } = env.anyone(random).credentials;
  const socket = connect({ host: HOST, port: env.broker.port, cert, key, ca });
  return exchange(socket, "secureConnect", { bytes: Buffer.from(bytes, "latin1"), withinMs: SILENCE_MS });
}

/** Sends, and hears what comes back until the other side closes. A server that keeps such a connection is left. */
export function exchange(
  socket: Socket,
  opened: "connect" | "secureConnect",
  { bytes, withinMs }: { readonly bytes: Buffer | string; readonly withinMs: number },
): Promise<string> {
  return new Promise((resolve) => {
    let received = "";
    socket.setTimeout(withinMs, () => socket.destroy());
    socket.on("error", () => socket.destroy());
    socket.once(opened, () => socket.write(bytes));
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString("latin1");
    });
    socket.once("close", () => resolve(received));
  });
}
