import { join } from "node:path";
import { type AdvertisementDTO, PATH } from "@resource-broker/contract";
import { commonName, makeKeys, type TestCertificates } from "@resource-broker/testkit";
import type { Context } from "../../evaluation-test.ts";
import { openFileLimit } from "../../frame/machine.ts";
import { type ConcurrencyLimit, inParallel, limitConcurrency, withCleanup } from "../../measure/async.ts";
import {
  advertiseText,
  type Connection,
  type ConnectionOptions,
  getText,
  openConnection,
} from "../../measure/load/connection.ts";
import { startMeasuredBroker } from "../../measure/start-programs.ts";
import { type Fleet, INTERVAL_MS, POLL_MS, type Step, type StepContext, watchStep } from "./step-metrics.ts";

/** Handshakes under way: enough to keep the broker busy, few enough that none waits until it is given up. */
const AT_ONCE = 32;
const TICK_MS = 10;
/** What a process has open beside its clients, and what the broker accepts in all. */
const OTHER_FILES = 250;
const BROKER_CONNECTIONS = 20_000;
const ANEW_AT_ONCE = 16;

interface ClientsOptions {
  readonly certificates: TestCertificates;
  readonly stepContext: StepContext;
  readonly fleet: Exclude<Fleet, "agents">;
  /** What a real agent said. */
  readonly advertisement: AdvertisementDTO;
}

/** Clients in this process, more and more of them on one broker: all advertise at the same moment, every 30 s, as agents do. */
export function measureClients(context: Context, options: ClientsOptions): Promise<Step[]> {
  const { certificates, stepContext, fleet, advertisement } = options;
  return withCleanup(async (onCleanup) => {
    const directory = join(context.folder, `broker-${fleet}`);
    const broker = await startMeasuredBroker(context, { certificates, directory });
    onCleanup(broker.dispose);
    const keys = makeKeys();
    const clients: ProtocolClient[] = [];
    onCleanup(() => clients.forEach((client) => client.close()));
    let failed = 0;
    const note = (isWell: boolean): void => void (failed += isWell ? 0 : 1);
    const failures = (): number => failed + clients.filter((client) => !client.isWell()).length;

    const most = stepContext.plan.counts[fleet].at(-1) ?? 0;
    const streams = fleet === "clients";
    const connections = Math.min(openFileLimit(), BROKER_CONNECTIONS) - OTHER_FILES;
    const room = connections - (streams ? most : 0);
    const connectsAnew = limitConcurrency(ANEW_AT_ONCE);
    const openOne = async (number: number): Promise<void> => {
      const clusterId = `${fleet}-${number}`;
      const credentials = certificates.leaf({ subject: [commonName(clusterId)], keys });
      const client = await openProtocolClient({
        clusterId,
        credentials,
        port: broker.port,
        advertisement,
        streams,
        ...(number < room ? {} : { connectsAnew }),
      });
      note(await client.advertise());
      clients.push(client);
    };
    const growTo = (count: number): Promise<void> => {
      const known = clients.length;
      const growth = { count: count - known, atOnce: AT_ONCE, signal: context.signal };
      return inParallel(growth, (number) => openOne(known + number));
    };
    const live = runClientLoop(clients, { note, polls: !streams });
    onCleanup(live.stop);

    const steps: Step[] = [];
    for (const count of stepContext.plan.counts[fleet]) {
      stepContext.onActivity(`connecting clients, up to ${count}`);
      await growTo(count);
      steps.push(await watchStep(context, broker, { stepContext, fleet, count, failures }));
    }
    return steps;
  });
}

interface ClientLoopOptions {
  readonly note: (isWell: boolean) => void;
  readonly polls: boolean;
}

/** Advertisements at multiples of the interval by the wall clock; polls evenly, one client after the other. */
function runClientLoop(
  clients: readonly ProtocolClient[],
  { note, polls }: ClientLoopOptions,
): { readonly stop: () => void } {
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
  return { stop: () => clearInterval(timer) };
}

interface ClientOptions extends ConnectionOptions {
  /** What it says of its cluster, but for the name. */
  readonly advertisement: AdvertisementDTO;
  /** False: it asks for instructions instead of keeping a stream of them open. */
  readonly streams: boolean;
  /** How it connects for each call, where not everybody can keep a connection. That costs the broker more. Absent: it keeps one. */
  readonly connectsAnew?: ConcurrencyLimit;
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
  const { clusterId, advertisement, streams, connectsAnew } = options;
  const stream = streams ? await openConnection(options) : undefined;
  stream?.stream(getText(PATH.instructionStream), () => undefined);
  const kept = connectsAnew === undefined ? await openConnection(options) : undefined;
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
  const send = (request: string): Promise<boolean> => {
    if (kept !== undefined) return sendOn(kept, request);
    return connectsAnew === undefined ? sendAnew(request) : connectsAnew(() => sendAnew(request));
  };
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
