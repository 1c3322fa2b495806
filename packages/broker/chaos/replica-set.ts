import { setTimeout as sleep } from "node:timers/promises";
import {
  type BrokerProcess,
  type FaultyProxy,
  type PostgresServer,
  type Replicas,
  type SeededRandom,
  startFaultyProxy,
  startReplicas,
  testCertificates,
} from "@resource-broker/testkit";
import { booksInDatabase } from "./read-books.ts";
import type { Strike, StrikeKind, Target } from "./target.ts";

/** Most of all the leader is killed; the rest is shared by the others. */
const CHANCES: readonly (readonly [StrikeKind, number])[] = [
  ["kill", 0.55],
  ["pause", 0.3],
  ["cut", 0.1],
  ["database", 0.05],
];
/** How often another replica is killed while they elect a leader, and how soon. */
const KILLED_AS_WELL = { chance: 0.2, withinMs: 400 };
/** How long a paused leader sleeps on when it was replaced. */
const LONGEST_SLEEP_MS = 1500;
const MOST_CUTS = 5;
const BETWEEN_CUTS_MS = 150;

export interface ReplicaSetOptions {
  readonly server: PostgresServer;
  /** Where their ledger is. */
  readonly schema: string;
  readonly replicas: number;
  readonly leaseMs: number;
  /** A bundled broker to test instead of the sources. */
  readonly program?: string;
}

interface Stage {
  readonly server: PostgresServer;
  readonly replicas: Replicas;
  /** Each replica's way to the database. */
  readonly proxies: readonly FaultyProxy[];
  readonly leaseMs: number;
}

/** Several replicas on one database, each on a way of its own. */
export async function replicaSet(options: ReplicaSetOptions): Promise<Target> {
  const { server, schema, leaseMs, program } = options;
  const proxies = await Promise.all(
    Array.from({ length: options.replicas }, () => startFaultyProxy({ port: server.port })),
  );
  const replicas = await startReplicas({
    stores: proxies.map(({ port }) => `${server.url({ port })}?schema=${schema}`),
    certificates: await testCertificates(),
    flags: [`--lease-duration=${leaseMs}ms`],
    ...(program === undefined ? {} : { program }),
  });
  const stage = { server, replicas, proxies, leaseMs };
  await replicas.leader();
  return {
    clientFor: replicas.clientFor,
    admin: replicas.admin,
    strike: (random) => strike(stage, random),
    close: async () => {
      await replicas.stop();
      return { books: await booksInDatabase(`${server.url()}?schema=${schema}`), problems: [] };
    },
    dispose: async () => {
      await replicas.dispose();
      await Promise.all(proxies.map((proxy) => proxy.close()));
    },
  };
}

async function strike(stage: Stage, random: SeededRandom): Promise<Strike> {
  const kind = kindFor(random);
  const leader = await stage.replicas.leader();
  const startedAt = performance.now();
  const what = await STRIKES[kind](stage, leader, random);
  await stage.replicas.leader();
  return { kind, what, downMs: performance.now() - startedAt };
}

function kindFor(random: SeededRandom): StrikeKind {
  let chance = 1;
  for (const [kind, share] of CHANCES) {
    if (random.chance(share / chance)) return kind;
    chance -= share;
  }
  return "kill";
}

type Blow = (stage: Stage, leader: BrokerProcess, random: SeededRandom) => Promise<string>;

const STRIKES: Readonly<Record<StrikeKind, Blow>> = { kill, pause, cut, database };

async function kill({ replicas }: Stage, leader: BrokerProcess, random: SeededRandom): Promise<string> {
  const isAlone = !random.chance(KILLED_AS_WELL.chance);
  const afterMs = random.below(KILLED_AS_WELL.withinMs);
  const other = random.pick(replicas.all.filter((each) => each !== leader));
  await leader.kill("SIGKILL");
  if (isAlone || other === undefined) return "leader killed";
  await sleep(afterMs);
  await other.kill("SIGKILL");
  return `leader killed, another one ${afterMs} ms later`;
}

async function pause(
  { replicas, leaseMs }: Stage,
  leader: BrokerProcess,
  random: SeededRandom,
): Promise<string> {
  const { pid } = leader;
  const sleptOnMs = random.below(LONGEST_SLEEP_MS);
  if (pid === undefined) return "leader gone before it could be paused";
  process.kill(pid, "SIGSTOP");
  try {
    // Until another one leads; alone it wakes up after its time, and goes on.
    if (replicas.all.length > 1) await replicas.leader();
    else await sleep(leaseMs);
    await sleep(sleptOnMs);
  } finally {
    if (leader.pid === pid) process.kill(pid, "SIGCONT");
  }
  return `leader paused until it was replaced and for ${sleptOnMs} ms more`;
}

async function cut(
  { replicas, proxies }: Stage,
  leader: BrokerProcess,
  random: SeededRandom,
): Promise<string> {
  const cuts = random.between(1, MOST_CUTS);
  const way = proxies[replicas.all.indexOf(leader)];
  for (let made = 0; made < cuts; made++) {
    way?.cut();
    await sleep(random.below(BETWEEN_CUTS_MS));
  }
  return `leader cut off from the database ${cuts} times`;
}

async function database({ server }: Stage, _: BrokerProcess, random: SeededRandom): Promise<string> {
  const how = random.chance(0.5) ? "stop" : "kill";
  await server[how]();
  await server.start();
  return `database restarted after ${how}`;
}
