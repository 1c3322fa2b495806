import { connect, type TLSSocket } from "node:tls";
import {
  type Credentials,
  PERMISSIVE_CLIENT,
  type SeededRandom,
  WRONG_CERTIFICATES,
} from "@resource-broker/testkit";
import type { Attack, FuzzEnvironment } from "../environment.ts";
import { exchange } from "./raw-lines.ts";

const HOST = "127.0.0.1";
const TIMEOUT_MS = 10_000;
const REQUEST = "GET /api/v1/reservations HTTP/1.1\r\nHost: broker\r\nConnection: close\r\n\r\n";

/** Certificates that say nothing, say too much, or are not from whom they say. None of them may be served. */
export const certificates: Attack = {
  name: `${WRONG_CERTIFICATES.length} kinds of wrong certificates`,
  weight: 3,
  run: async (env, random) => {
    const wrong = random.pick(WRONG_CERTIFICATES);
    if (wrong === undefined) return undefined;
    return await refusalOf(env, wrong.name, wrong.make(env.certificates));
  },
};

/** A right certificate with one byte changed. */
export const damagedCertificates: Attack = {
  name: "damaged certificates",
  weight: 2,
  run: async (env, random) => {
    const { credentials } = env.anyone(random);
    return await refusalOf(env, "a damaged certificate", {
      ...credentials,
      cert: damaged(credentials.cert, random),
    });
  },
};

async function refusalOf(
  env: FuzzEnvironment,
  name: string,
  credentials: Credentials,
): Promise<string | undefined> {
  const received = await ask(env.broker.port, credentials);
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 401);
  return status === 401 ? undefined : `${name}: answered with ${status}`;
}

async function ask(port: number, { cert, key, ca }: Credentials): Promise<string> {
  let socket: TLSSocket;
  try {
    socket = connect({ host: HOST, port, cert, key, ca, ...PERMISSIVE_CLIENT });
  } catch {
    return ""; // not even a client can read it
  }
  return await exchange(socket, "secureConnect", { bytes: REQUEST, withinMs: TIMEOUT_MS });
}

function damaged(pem: string, random: SeededRandom): string {
  const [head = "", ...lines] = pem.trim().split("\n");
  const bytes = Buffer.from(lines.slice(0, -1).join(""), "base64");
  const position = random.below(bytes.length);
  bytes[position] = (bytes[position] ?? 0) ^ (1 << random.below(8));
  return `${head}\n${bytes.toString("base64")}\n${lines.at(-1)}\n`;
}
