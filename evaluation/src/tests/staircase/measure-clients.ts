import { type AdvertisementDTO, PATH } from "@resource-broker/contract";
import type { TestCertificates } from "@resource-broker/testkit";
import type { Context } from "../../evaluation-test.ts";
import { openFileLimit } from "../../frame/machine.ts";
import { type ConcurrencyLimit, limitConcurrency } from "../../measure/async.ts";
import {
  advertiseText,
  type Connection,
  type ConnectionOptions,
  getText,
  openConnection,
} from "../../measure/load/connection.ts";
import { startMeasuredBroker } from "../../measure/start-programs.ts";
import { identitiesFrom } from "../subject/subject.ts";
import { climb, type Fleet, INTERVAL_MS, PLANS, POLL_MS, type Step } from "./climb.ts";

/** Handshakes under way: enough to keep the broker busy, few enough that none waits until it is given up. */
const AT_ONCE = 32;
const TICK_MS = 10;
/** What a process has open beside its clients, and what the broker accepts in all. */
const OTHER_FILES = 250;
const BROKER_CONNECTIONS = 20_000;
const ANEW_AT_ONCE = 16;

interface ClientsOptions {
  readonly certificates: TestCertificates;
  readonly fleet: Exclude<Fleet, "agents">;
  /** What a real agent said. */
  readonly advertisement: AdvertisementDTO;
}

/** Clients in this process: all advertise at the same moment, every 30 s, as agents do. */
export async function climbWithClients(
  context: Context,
  { certificates, fleet, advertisement }: ClientsOptions,
): Promise<Step[]> {
  const broker = await startMeasuredBroker(context, { certificates });
  const clients: ProtocolClient[] = [];
  context.onCleanup(() => clients.forEach((client) => client.close()));
  let failed = 0;
  const note = (isWell: boolean): void => void (failed += isWell ? 0 : 1);
  const streams = fleet === "clients";
  context.onCleanup(runClientLoop(clients, { note, polls: !streams }));

  const most = PLANS[context.size].counts[fleet].at(-1) ?? 0;
  const connections = Math.min(openFileLimit(), BROKER_CONNECTIONS) - OTHER_FILES;
  const room = connections - (streams ? most : 0);
  const connectsAnew = limitConcurrency(ANEW_AT_ONCE);
  const identity = identitiesFrom(certificates);
  return climb(context, broker, {
    fleet,
    atOnce: AT_ONCE,
    failures: () => failed + clients.filter((client) => !client.isWell()).length,
    startOne: async (number) => {
      const client = await openProtocolClient({
        ...identity(`${fleet}-${number}`),
        port: broker.port,
        advertisement,
        streams,
        keepsConnection: number < room,
        connectsAnew,
      });
      note(await client.advertise());
      clients.push(client);
    },
  });
}

interface ClientLoopOptions {
  readonly note: (isWell: boolean) => void;
  readonly polls: boolean;
}

/** Advertisements at multiples of the interval by the wall clock; polls evenly, one client after the other. Ends when it is told to. */
function runClientLoop(clients: readonly ProtocolClient[], { note, polls }: ClientLoopOptions): () => void {
  let lastTick = Math.floor(Date.now() / INTERVAL_MS);
  let next = 0;
  let owed = 0;
  let polledAt = performance.now();
  const timer = setInterval(() => {
    const tick = Math.floor(Date.now() / INTERVAL_MS);
    if (tick !== lastTick) {
      lastTick = tick;
      for (const client of clients) void client.advertise().then(note);
    }
    const now = performance.now();
    owed += ((now - polledAt) / POLL_MS) * clients.length;
    polledAt = now;
    for (; polls && owed >= 1; owed--) void clients[next++ % clients.length]?.poll().then(note);
  }, TICK_MS);
  return () => clearInterval(timer);
}

interface ClientOptions extends ConnectionOptions {
  /** What it says of its cluster, but for the name. */
  readonly advertisement: AdvertisementDTO;
  /** False: it asks for instructions instead of keeping a stream of them open. */
  readonly streams: boolean;
  /** False: it connects for each call, where not everybody can keep a connection. That costs the broker more. */
  readonly keepsConnection: boolean;
  readonly connectsAnew: ConcurrencyLimit;
}

/** Says what an agent says, without a cluster behind it. Each call resolves with whether it went well. */
interface ProtocolClient {
  readonly advertise: () => Promise<boolean>;
  readonly poll: () => Promise<boolean>;
  /** True while its stream is open, where it has one. */
  readonly isWell: () => boolean;
  readonly close: () => void;
}

async function openProtocolClient(options: ClientOptions): Promise<ProtocolClient> {
  const { clusterId, advertisement, streams, keepsConnection, connectsAnew } = options;
  const stream = streams ? await openConnection(options) : undefined;
  stream?.stream(getText(PATH.instructionStream), () => undefined);
  const kept = keepsConnection ? await openConnection(options) : undefined;
  let sequence = 0;
  let calling: Promise<unknown> = Promise.resolve();

  const sendOn = async (connection: Connection, request: string): Promise<boolean> =>
    (await connection.send(request)).status === 200;
  const sendAnew = async (request: string): Promise<boolean> => {
    const connection = await openConnection(options);
    try {
      return await sendOn(connection, request);
    } finally {
      connection.close();
    }
  };
  const send = (request: string): Promise<boolean> =>
    kept === undefined ? connectsAnew(() => sendAnew(request)) : sendOn(kept, request);
  /** One after the other, as on any connection; a failure is told and not thrown. */
  const call = (request: () => string): Promise<boolean> => {
    const answered = calling.then(() => send(request())).catch(() => false);
    calling = answered;
    return answered;
  };

  return {
    advertise: () =>
      call(() => {
        sequence += 1;
        return advertiseText({ ...advertisement, clusterID: clusterId, instance: clusterId, sequence });
      }),
    poll: () => call(() => getText(PATH.instructions)),
    isWell: () => stream?.isClosed() !== true,
    close: () => {
      stream?.close();
      kept?.close();
    },
  };
}
