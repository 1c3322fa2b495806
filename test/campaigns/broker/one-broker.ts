import { setTimeout as sleep } from "node:timers/promises";
import { advertisedIn } from "@resource-broker/broker/testing";
import type { PolicyDTO } from "@resource-broker/contract/testing";
import {
  type BrokerClient,
  type BrokerProcess,
  brokerClient,
  type ClientOptions,
  type FaultyProxy,
  type SeededRandom,
  startBroker,
  startFaultyProxy,
  testCertificates,
} from "@resource-broker/testkit";
import { startOnDamaged } from "./damaged-ledger.ts";
import { snapshotFromSqlite } from "./read-snapshot.ts";
import type { Strike, Target } from "./target.ts";

/** How often a broker is killed again while it is still coming back, and how soon. */
const KILLED_AGAIN = { chance: 0.2, withinMs: 400 };
/** What is not a kill is a pause or a cut, in equal parts. */
const KILLS = 0.8;
const LONGEST_PAUSE_MS = 3000;
const MOST_CUTS = 5;
const LONGEST_SILENCE_MS = 300;
/** The second strike of so many damages the ledger: so it is in short campaigns too. */
const STRIKES_PER_DAMAGE = 8;

interface BrokerUnderTest {
  readonly broker: BrokerProcess;
  /** The clients' way to the broker. */
  readonly proxy: FaultyProxy;
}

export interface OneBroker extends Target {
  /** The clusters whose advertisements a kill would not undo any more. */
  readonly advertised: () => readonly string[];
}

export interface OneBrokerOptions {
  /** A bundled broker to test instead of the sources. */
  readonly program?: string;
  /** True: some strikes damage the ledger. */
  readonly isDamaged?: boolean;
  /** Absent: the built-in one. */
  readonly policy?: PolicyDTO;
}

/** One broker on the embedded store. */
export async function oneBroker({
  program,
  isDamaged = false,
  policy,
}: OneBrokerOptions = {}): Promise<OneBroker> {
  const certificates = await testCertificates();
  const broker = await startBroker({
    certificates,
    ...(program === undefined ? {} : { program }),
    ...(policy === undefined ? {} : { policy }),
  });
  const proxy = await startFaultyProxy({ port: broker.port });
  const clients: BrokerClient[] = [];
  let strikes = 0;
  const connect = (options: Omit<ClientOptions, "port">): BrokerClient => {
    const client = brokerClient({ ...options, port: proxy.port });
    clients.push(client);
    return client;
  };
  const admin = connect({ clusterId: "admin", credentials: certificates.admin("admin") });
  return {
    clientFor: (clusterId, more = {}) =>
      connect({ clusterId, credentials: certificates.cluster(clusterId), ...more }),
    admin: () => admin,
    advertised: () => advertisedIn(broker.storeDirectory),
    strike: (random) => {
      const isDamage = isDamaged && strikes++ % STRIKES_PER_DAMAGE === 1;
      return isDamage ? damage(broker, random) : strike({ broker, proxy }, random);
    },
    close: async () => {
      const code = await broker.stop();
      const snapshot = await snapshotFromSqlite(broker.storeDirectory);
      return {
        snapshot,
        problems: code === 0 ? [] : [`the broker ended with ${code} when asked to stop`],
      };
    },
    dispose: async () => {
      for (const client of clients) client.close();
      await broker.dispose();
      await proxy.close();
    },
  };
}

async function strike({ broker, proxy }: BrokerUnderTest, random: SeededRandom): Promise<Strike> {
  if (random.chance(KILLS)) return await kill(broker, random);
  return random.chance(0.5) ? await pause(broker, random) : await cut(proxy, random);
}

async function kill(broker: BrokerProcess, random: SeededRandom): Promise<Strike> {
  await broker.kill("SIGKILL");
  let what = "killed";
  let times = 1;
  while (random.chance(KILLED_AGAIN.chance)) {
    const afterMs = random.below(KILLED_AGAIN.withinMs);
    await broker.launch();
    await sleep(afterMs);
    await broker.kill("SIGKILL");
    times++;
    what += `, again ${afterMs} ms after its start`;
  }
  const { readyAfterMs } = await broker.restart();
  return { kind: "kill", what, downMs: readyAfterMs, times };
}

/** Killed, and what it kept is damaged in each way before it gets it back. */
async function damage(broker: BrokerProcess, random: SeededRandom): Promise<Strike> {
  await broker.kill("SIGKILL");
  const { damages, problems } = await startOnDamaged(broker, random);
  const { readyAfterMs } = await broker.restart();
  const what = `killed, ledger ${damages.join(", then ")}`;
  return { kind: "damage", what, downMs: readyAfterMs, times: damages.length, problems };
}

/** Stopped in the middle of whatever it did, and woken up as if nothing had been. */
async function pause(broker: BrokerProcess, random: SeededRandom): Promise<Strike> {
  const downMs = random.below(LONGEST_PAUSE_MS);
  broker.pause();
  await sleep(downMs);
  broker.resume();
  return { kind: "pause", what: `paused for ${downMs} ms`, downMs };
}

/** Connections break, or nothing passes for a while and then they break: what was sent may have been heard. */
async function cut(proxy: FaultyProxy, random: SeededRandom): Promise<Strike> {
  const cuts = random.between(1, MOST_CUTS);
  const startedAt = performance.now();
  for (let made = 0; made < cuts; made++) {
    if (random.chance(0.5)) proxy.pause();
    proxy.refuse();
    await sleep(random.below(LONGEST_SILENCE_MS));
    proxy.cut();
    proxy.resume();
    proxy.admit();
    await sleep(random.below(LONGEST_SILENCE_MS));
  }
  return { kind: "cut", what: `cut off ${cuts} times`, downMs: performance.now() - startedAt };
}
