import { join } from "node:path";
import type { AdvertisementDTO } from "@resource-broker/contract";
import { commonName, makeKeys, type TestCertificates } from "@resource-broker/testkit";
import type { Context } from "../../evaluation-test.ts";
import { openFileLimit } from "../../frame/cores.ts";
import { limitConcurrency } from "../../measure/limit-concurrency.ts";
import { startMeasuredBroker } from "../../measure/start-programs.ts";
import { withCleanup } from "../../measure/with-cleanup.ts";
import { openProtocolClient, type ProtocolClient } from "./protocol-client.ts";
import { type Fleet, INTERVAL_MS, POLL_MS, type Step } from "./staircase.ts";
import { type StepContext, watchStep } from "./watch-step.ts";

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
    const growTo = async (count: number): Promise<void> => {
      let next = clients.length;
      const some = async (): Promise<void> => {
        while (next < count) {
          context.signal.throwIfAborted();
          await openOne(next++);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, some));
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
