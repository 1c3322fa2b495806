import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { PolicyDTO } from "@resource-broker/contract/testing";
import {
  type BrokerProcess,
  type SeededRandom,
  startReplicas,
  testCertificates,
} from "@resource-broker/testkit";
import type { SharedLedger } from "./shared-ledger.ts";
import { type Suspension, suspendLeader } from "./suspend-leader.ts";
import type { Strike, StrikeKind, Target } from "./target.ts";

type StrikeAction = (
  replicas: ReplicasUnderTest,
  leader: BrokerProcess,
  random: SeededRandom,
) => Promise<string>;

/** What is done to a replica set, or to the server that keeps its ledger. */
export type StrikeActionName = "kill" | "pause" | "cut" | "server";

/** Most of all the leader is killed; the rest is shared by the others. */
const CHANCES: readonly (readonly [StrikeActionName, number])[] = [
  ["kill", 0.7],
  ["pause", 0.15],
  ["cut", 0.1],
  ["server", 0.05],
];
/** How often another replica is killed while they elect a leader, and how soon. */
const KILLED_AS_WELL = { chance: 0.2, withinMs: 400 };
/** How long a paused leader sleeps on when it was replaced. */
const LONGEST_SLEEP_MS = 1500;
const MOST_CUTS = 5;
const BETWEEN_CUTS_MS = 150;
/** The second strike of so many suspends the leader: so it is in short campaigns too. */
const STRIKES_PER_SUSPENSION = 4;

export interface ReplicaSetOptions {
  /** Where their ledger is. It ends with the set. */
  readonly ledger: SharedLedger;
  readonly leaseMs: number;
  /** Absent: the built-in one. */
  readonly policy?: PolicyDTO;
  /** What the first strikes are. Absent or over: they are chosen at random. */
  readonly first?: readonly (StrikeActionName | "suspend")[];
  /** A bundled broker to test instead of the sources. */
  readonly program?: string;
}

interface ReplicasUnderTest extends Suspension {
  readonly ledger: SharedLedger;
  readonly leaseMs: number;
}

/** Several replicas on one ledger, each on a way of its own. */
export async function replicaSet(options: ReplicaSetOptions): Promise<Target> {
  const { ledger, leaseMs, first = [], program, policy } = options;
  const certificates = await testCertificates();
  const folder = await mkdtemp(join(tmpdir(), "chaos-"));
  const switchFile = join(folder, "suspended");
  const clock = new URL("./suspended-clock.ts", import.meta.url);
  clock.searchParams.set("while", switchFile);
  const replicas = await startReplicas({
    stores: ledger.endpoints.map(({ store }) => store),
    flagsFor: (replica) => ledger.endpoints[replica]?.flags ?? [],
    certificates,
    nodeFlags: [`--import=${clock.href}`],
    flags: [`--lease-duration=${leaseMs}ms`],
    ...(program === undefined ? {} : { program }),
    ...(policy === undefined ? {} : { policy }),
  });
  const target = { ledger, replicas, certificates, switchFile, leaseMs };
  let strikes = 0;
  await replicas.leader();
  return {
    clientFor: replicas.clientFor,
    admin: replicas.admin,
    strike: (random) => {
      const isSuspension = replicas.all.length > 1 && strikes % STRIKES_PER_SUSPENSION === 1;
      const name = first[strikes++] ?? (isSuspension ? "suspend" : nameFor(random));
      return name === "suspend" ? suspend(target) : strike(target, name, random);
    },
    close: async () => {
      await replicas.stop();
      return { snapshot: await ledger.snapshot(), problems: [] };
    },
    dispose: async () => {
      await replicas.dispose();
      await ledger.dispose();
      await rm(folder, { recursive: true });
    },
  };
}

async function strike(
  target: ReplicasUnderTest,
  name: StrikeActionName,
  random: SeededRandom,
): Promise<Strike> {
  const kind: StrikeKind = name === "server" ? target.ledger.serverKind : name;
  const leader = await target.replicas.leader();
  const startedAt = performance.now();
  const what = await STRIKE_ACTIONS[name](target, leader, random);
  await target.replicas.leader();
  return { kind, what, downMs: performance.now() - startedAt };
}

async function suspend(target: ReplicasUnderTest): Promise<Strike> {
  const leader = await target.replicas.leader();
  const startedAt = performance.now();
  const { what, problems } = await suspendLeader(target, leader);
  await target.replicas.leader();
  return { kind: "suspend", what, downMs: performance.now() - startedAt, problems };
}

function nameFor(random: SeededRandom): StrikeActionName {
  let chance = 1;
  for (const [name, share] of CHANCES) {
    if (random.chance(share / chance)) return name;
    chance -= share;
  }
  return "kill";
}

const STRIKE_ACTIONS: Readonly<Record<StrikeActionName, StrikeAction>> = {
  kill,
  pause,
  cut,
  server: ({ ledger, leaseMs }, _, random) => ledger.strikeServer(random, leaseMs),
};

async function kill(
  { replicas }: ReplicasUnderTest,
  leader: BrokerProcess,
  random: SeededRandom,
): Promise<string> {
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
  { replicas, leaseMs }: ReplicasUnderTest,
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
  { replicas, ledger }: ReplicasUnderTest,
  leader: BrokerProcess,
  random: SeededRandom,
): Promise<string> {
  const cuts = random.between(1, MOST_CUTS);
  const proxy = ledger.endpoints[replicas.all.indexOf(leader)]?.proxy;
  for (let made = 0; made < cuts; made++) {
    proxy?.cut();
    await sleep(random.below(BETWEEN_CUTS_MS));
  }
  if (replicas.all.length === 1) return `leader cut off from its ledger ${cuts} times`;
  // Nothing comes through any more, and nobody is told: only time shows it.
  proxy?.pause();
  while ((await replicas.leader()) === leader) await sleep(BETWEEN_CUTS_MS);
  proxy?.resume();
  return `leader cut off from its ledger ${cuts} times, and then until it was replaced`;
}
