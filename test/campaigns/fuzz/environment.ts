import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import {
  advertisementBody,
  type BrokerProcess,
  type Credentials,
  type SeededRandom,
  type TestCertificates,
} from "@resource-broker/testkit";
import type { Contract } from "./contract.ts";

const HOST = "127.0.0.1";
const CLUSTERS = 48;
const PROVIDER = "fuzz-lender";
/** Little to lend: most requests that are right are refused, and the ledger stays small however long this takes. */
const PROVIDER_CAPACITY = { cpu: 256, memoryGi: 1024 };
const TIMEOUT_MS = 15_000;
/** More often than an attacker has connections. */
const MOST_ASKED = 5;

/** A request as it goes out: nothing is made right on the way. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** A client of the broker: one of many clusters, or an admin. */
export interface Attacker {
  readonly name: string;
  readonly credentials: Credentials;
  /** Undefined: the broker closed the connection without a word. */
  readonly send: (shot: RawRequest) => Promise<Reply | undefined>;
}

/** Where attacks take place: a real broker, attackers with certificates, and what was found. */
export interface FuzzEnvironment {
  readonly broker: BrokerProcess;
  readonly certificates: TestCertificates;
  readonly contract: Contract;
  readonly clusters: readonly Attacker[];
  readonly admin: Attacker;
  /** One of the clusters. */
  readonly anyone: (random: SeededRandom) => Attacker;
  /** Reservations that were made, with their parties: nobody else may ever be told of them. */
  readonly parties: Map<string, readonly string[]>;
  /** The one cluster that nobody attacks has something to lend, and says so. */
  readonly advertise: () => Promise<void>;
  readonly close: () => void;
}

export interface FuzzEnvironmentParts {
  readonly broker: BrokerProcess;
  readonly certificates: TestCertificates;
  readonly contract: Contract;
}

export async function openFuzzEnvironment({
  broker,
  certificates,
  contract,
}: FuzzEnvironmentParts): Promise<FuzzEnvironment> {
  const { port } = broker;
  const agents: Agent[] = [];
  const attackerOf = (name: string, credentials: Credentials): Attacker => {
    const { cert, key, ca } = credentials;
    const agent = new Agent({ cert, key, ca, keepAlive: true, maxSockets: 4 });
    agents.push(agent);
    return { name, credentials, send: (shot) => sendRaw({ agent, port }, shot) };
  };
  const clusters = Array.from({ length: CLUSTERS }, (_, each) =>
    attackerOf(`fuzz-${each}`, certificates.cluster(`fuzz-${each}`)),
  );
  const admin = attackerOf("ops", certificates.admin("ops"));
  const provider = attackerOf(PROVIDER, certificates.cluster(PROVIDER));
  const advertise = async (): Promise<void> => {
    const body = JSON.stringify(advertisementBody(PROVIDER, PROVIDER_CAPACITY));
    await provider.send({ method: "POST", path: "/api/v1/advertisements", headers: JSON_HEADERS, body });
  };
  await advertise();
  return {
    broker,
    certificates,
    contract,
    clusters,
    admin,
    anyone: (random) => random.pick(clusters) ?? admin,
    parties: new Map(),
    advertise,
    close: () => {
      for (const agent of agents) agent.destroy();
    },
  };
}

/**
 * The answer to a call that changes nothing. A connection that is closed after an earlier attack may be taken for this
 * call in the same moment: then it is asked once more.
 */
export async function answerTo({ send: ask }: Attacker, path: string): Promise<Reply | undefined> {
  let reply: Reply | undefined;
  for (let left = MOST_ASKED; left > 0 && reply === undefined; left--)
    reply = await ask({ method: "GET", path });
  return reply;
}

export const JSON_HEADERS = { "Content-Type": "application/json", "Agent-Protocol": "3" } as const;

function sendRaw(
  to: { readonly agent: Agent; readonly port: number },
  { method, path, headers = {}, body }: RawRequest,
): Promise<Reply | undefined> {
  return new Promise((resolve) => {
    try {
      const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
      const sent = request({ host: HOST, ...to, method, path, headers: { ...length, ...headers } });
      sent.setTimeout(TIMEOUT_MS, () => sent.destroy());
      sent.on("error", () => resolve(undefined));
      sent.once("response", (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        response.once("end", () => resolve({ status: response.statusCode ?? 0, text }));
        response.once("error", () => resolve(undefined));
        response.once("close", () => resolve(undefined));
        // A stream of changes has no end: that it began is the whole reply.
        if (!isStream(response)) return;
        resolve({ status: response.statusCode ?? 0, text: "" });
        response.destroy();
      });
      sent.end(body);
    } catch {
      // Node itself does not send such a thing: nothing was tried.
      resolve({ status: 0, text: "" });
    }
  });
}

function isStream({ headers }: IncomingMessage): boolean {
  return headers["content-type"]?.startsWith("text/event-stream") === true;
}

export interface Attack {
  readonly name: string;
  /** How often it is chosen, compared with the others. */
  readonly weight: number;
  /** Returns what should not have happened, in words. */
  readonly run: (arena: FuzzEnvironment, random: SeededRandom) => Promise<string | undefined>;
}
