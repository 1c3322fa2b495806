import { setTimeout as sleep } from "node:timers/promises";
import { cpuMsOf, memoryOf } from "@resource-broker/testkit";
import type { BySize, Context } from "../../evaluation-test.ts";
import { startClusters } from "../../measure/clusters/start-clusters.ts";
import type { Connection } from "../../measure/load/connection.ts";
import { inScope, inTurn } from "../../measure/scope.ts";
import { pidOf } from "../../measure/start-programs.ts";
import { countText } from "../../report/format.ts";
import { advertiseSize, type Amounts, requestFor, SMALL } from "../subject/calls.ts";
import { fill, releaseAll } from "../subject/fill.ts";
import { connectAll, openOwn, type Identity, type OwnSubject, startAgentOf } from "../subject/subject.ts";

/** What the broker takes when so many clusters have advertised. */
export interface ClustersStep {
  readonly clusters: number;
  /** CPU of the broker for one reservation: decision, commit, TLS and all. */
  readonly reservationUs: number;
  readonly advertisementUs: number;
  readonly rssMb: number;
}

/** What an agent takes in a cluster with so many pods. */
export interface PodsStep {
  readonly pods: number;
  readonly nodes: number;
  /** CPU from the start of the process until it is ready: everything is listed and advertised. */
  readonly syncCpuMs: number;
  readonly rssMb: number;
  readonly privateMb: number;
}

const COUNTS: BySize<readonly number[]> = {
  smoke: [1, 10, 100],
  quick: [1, 10, 100, 1000],
  full: [1, 10, 100, 1000, 10_000],
};
const RESERVATIONS: BySize<number> = { smoke: 150, quick: 800, full: 3000 };
/** A provider has at most 1,000 at a time, a quarter of so many to warm up included. */
const MOST_PER_CLUSTER = 800;
/** Less than a cluster may send in a burst, when there is only one. */
const ADVERTISEMENTS = 300;
const REQUESTERS = 20;
/** Connected at the same time while they advertise: what clusters cost is measured here, not what connections do. */
const AT_ONCE = 50;
const SETTLE_MS: BySize<number> = { smoke: 300, quick: 1500, full: 4000 };

export interface GrowthSteps {
  readonly steps: readonly ClustersStep[];
  readonly wrong: readonly string[];
}

/** One broker, and more and more clusters that advertise. */
export async function growClusters(context: Context): Promise<GrowthSteps> {
  const subject = await openOwn(context);
  const counts = COUNTS[context.size];
  const identities = subject.identities(REQUESTERS + (counts.at(-1) ?? 1));
  const [requesters, providers] = [identities.slice(0, REQUESTERS), identities.slice(REQUESTERS)];
  const wrong: string[] = [];
  let known = 0;
  const steps = await inTurn(context, counts, {
    doing: (count) => `${countText(count)} clusters advertise`,
    task: async (count) => {
      await advertiseOnce(context, subject, providers.slice(known, count));
      known = count;
      const setup = { requesters, providers: providers.slice(0, Math.min(count, AT_ONCE)), count };
      const { step, refused } = await inScope(context, (inner) => measure(inner, subject, setup));
      if (refused > 0)
        wrong.push(`${count} clusters: ${refused} requests were refused though there was room`);
      return step;
    },
  });
  return { steps, wrong };
}

interface GrowthSetup {
  readonly requesters: readonly Identity[];
  readonly providers: readonly Identity[];
  /** How many clusters have advertised. */
  readonly count: number;
}

async function measure(
  context: Context,
  subject: OwnSubject,
  { requesters, providers, count: clusters }: GrowthSetup,
): Promise<{ readonly step: ClustersStep; readonly refused: number }> {
  const { size, signal } = context;
  const pid = pidOf(subject.broker);
  const asking = await connectAll(context, { subject, identities: requesters });
  // With those before, as many as so few clusters may have at once.
  const count = Math.min(RESERVATIONS[size], MOST_PER_CLUSTER * clusters);
  const reserve = (name: string, of: number) =>
    fill(asking, { count: of, request: requestFor(SMALL), name: `${name}-${clusters}`, signal });
  const warm = await reserve("warm", Math.ceil(count / 4));
  const before = cpuMsOf(pid);
  const filled = await reserve("grow", count);
  const reservationUs = (1000 * (cpuMsOf(pid) - before)) / count;
  // A provider is told in each reply what it holds: with few clusters each would hold thousands.
  await releaseAll(warm);
  await releaseAll(filled);
  const connections = await connectAll(context, { subject, identities: providers });
  const advertisementUs = await advertisementCost(pid, connections);
  // After the work of each step, so that the first one, too, has the heap that work needs.
  await sleep(SETTLE_MS[size], undefined, { signal });
  const { rssMb } = memoryOf(pid);
  return {
    step: { clusters, reservationUs, advertisementUs, rssMb },
    refused: filled.flatMap(({ answers }) => answers).filter(({ status }) => status !== 201).length,
  };
}

async function advertisementCost(pid: number, connections: readonly Connection[]): Promise<number> {
  const rounds = Math.ceil(ADVERTISEMENTS / connections.length);
  const before = cpuMsOf(pid);
  for (let round = 0; round < rounds; round++) await Promise.all(connections.map(advertiseOwnSize));
  return (1000 * (cpuMsOf(pid) - before)) / (rounds * connections.length);
}

/** Each connects, advertises and goes away again. */
async function advertiseOnce(context: Context, subject: OwnSubject, all: readonly Identity[]): Promise<void> {
  for (let from = 0; from < all.length; from += AT_ONCE) {
    context.signal.throwIfAborted();
    const identities = all.slice(from, from + AT_ONCE);
    await inScope(context, (inner) => connectAll(inner, { subject, identities, begin: advertiseOwnSize }));
  }
}

/** All different, so that few score alike; all so large that nobody runs out. */
function advertiseOwnSize(connection: Connection): Promise<void> {
  const { clusterId } = connection;
  const number = Number(clusterId.slice(clusterId.lastIndexOf("-") + 1));
  const size: Amounts = {
    cpuMillis: 8_000_000 + 1000 * (number % 97),
    memoryMi: 8_000_000 + 1024 * (number % 89),
  };
  return advertiseSize(connection, size);
}

const PODS: BySize<readonly number[]> = {
  smoke: [200, 2000],
  quick: [200, 2000, 20_000],
  full: [200, 2000, 20_000, 150_000],
};
const PODS_PER_NODE = 30;
const PODS_SETTLE_MS: BySize<number> = { smoke: 500, quick: 3000, full: 15_000 };

/** One agent after the other, in larger and larger clusters. */
export async function growPods(context: Context): Promise<PodsStep[]> {
  const { size, signal } = context;
  const subject = await openOwn(context);
  return inTurn(context, PODS[size], {
    doing: (pods) => `an agent in a cluster of ${countText(pods)} pods`,
    task: (pods, index) =>
      inScope(context, async (inner) => {
        const identity = subject.identity(`cluster-${index}`);
        const nodes = Math.max(1, Math.ceil(pods / PODS_PER_NODE));
        // A process of its own for each: the memory of a large one would be in the way of the next.
        const kubeconfig = await startClusters(inner)({ name: identity.clusterId, nodes, pods });
        const agent = await startAgentOf(inner, subject, { ...identity, kubeconfig });
        const syncCpuMs = cpuMsOf(pidOf(agent));
        await sleep(PODS_SETTLE_MS[size], undefined, { signal });
        const { rssMb, privateMb } = memoryOf(pidOf(agent));
        return { pods, nodes, syncCpuMs, rssMb, privateMb };
      }),
  });
}
