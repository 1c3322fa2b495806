import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";
import type { SeededRandom } from "@resource-broker/testkit";
import { type Attack, answerTo, type FuzzEnvironment } from "../environment.ts";

const HOST = "127.0.0.1";
const CLIENTS = 24;
const A_BYTE_EVERY_MS = 500;
/** The broker gives a request ten seconds; what is still open much later was forgotten. */
const TIMEOUT_MS = 40_000;
const BEGINNINGS = [
  "GET /api/v1/reservations HTTP/1.1\r\nHost: broker\r\nX: ",
  'POST /api/v1/quotes HTTP/1.1\r\nHost: broker\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"a":"',
  "POST /api/v1/quotes HTTP/1.1\r\nHost: broker\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n",
] as const;

/** Clients that never come to an end: each must be sent away, and others be served meanwhile. */
export const slowClients: Attack = {
  name: "slow clients",
  weight: 0.02,
  run: async (env, random) => {
    const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => begin(env, random)));
    const deadline = performance.now() + TIMEOUT_MS;
    const open = (): TLSSocket[] => sockets.filter(({ destroyed }) => !destroyed);
    while (open().length > 0 && performance.now() < deadline) {
      for (const socket of open()) socket.write("x");
      await sleep(A_BYTE_EVERY_MS);
      const reply = await answerTo(env.anyone(random), "/healthz");
      if (reply?.status !== 200)
        return `while slow clients were there, /healthz was ${reply?.status ?? "closed"}`;
    }
    const left = open().length;
    for (const socket of sockets) socket.destroy();
    return left === 0 ? undefined : `${left} slow clients were never sent away`;
  },
};

async function begin(env: FuzzEnvironment, random: SeededRandom): Promise<TLSSocket> {
  const { cert, key, ca } = env.anyone(random).credentials;
  const socket = connect({ host: HOST, port: env.broker.port, cert, key, ca });
  socket.on("error", () => socket.destroy());
  socket.on("end", () => socket.destroy());
  socket.resume();
  await Promise.race([once(socket, "secureConnect"), once(socket, "close")]);
  socket.write(random.pick(BEGINNINGS) ?? "");
  return socket;
}
