import { setTimeout as sleep } from "node:timers/promises";
import { memoryOf } from "@resource-broker/testkit";
import type { Context, Size } from "../../evaluation-test.ts";
import { type OnCleanup, withCleanup } from "../../measure/async.ts";
import type { Connection } from "../../measure/load/connection.ts";
import { cpuTimeOf } from "../../measure/sample-process.ts";
import { startClusters } from "../../measure/clusters/start-clusters.ts";
import { pidOf, startMeasuredAgent } from "../../measure/start-programs.ts";
import { countText } from "../../report/format.ts";
import { advertiseSize, type Amounts, requestFor, SMALL } from "../subject/calls.ts";
import { fill, releaseAll } from "../subject/fill.ts";
import { connectAll, type Identity, openSubject, type Subject } from "../subject/subject.ts";

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

const COUNTS: Readonly<Record<Size, readonly number[]>> = {
  smoke: [1, 10, 100],
  quick: [1, 10, 100, 1000],
  full: [1, 10, 100, 1000, 10_000],
};
const RESERVATIONS: Readonly<Record<Size, number>> = { smoke: 150, quick: 800, full: 3000 };
/** A provider has at most 1,000 at a time, a quarter of so many to warm up included. */
const MOST_PER_CLUSTER = 800;
/** Less than a cluster may send in a burst, when there is only one. */
const ADVERTISEMENTS = 300;
const REQUESTERS = 20;
/** Connected at the same time while they advertise: what clusters cost is measured here, not what connections do. */
const AT_ONCE = 50;
const SETTLE_MS: Readonly<Record<Size, number>> = { smoke: 300, quick: 1500, full: 4000 };

export interface GrowthSteps {
  readonly steps: readonly ClustersStep[];
  readonly wrong: readonly string[];
}

/** One broker, and more and more clusters that advertise. */
export function growClusters(
  context: Context,
  onShare: (share: number, doing: string) => void,
): Promise<GrowthSteps> {
  return withCleanup(async (onCleanup) => {
    const { size } = context;
    const subject = await openSubject(context, onCleanup);
    const counts = COUNTS[size];
    const most = counts.at(-1) ?? 1;
    const identities = subject.identities(REQUESTERS + most);
    const [requesters, providers] = [identities.slice(0, REQUESTERS), identities.slice(REQUESTERS)];
    const steps: ClustersStep[] = [];
    const wrong: string[] = [];
    let known = 0;
    for (const [index, count] of counts.entries()) {
      onShare(index / counts.length, `${countText(count)} clusters advertise`);
      await advertiseOnce(subject, providers.slice(known, count), context.signal);
      known = count;
      const setup = { subject, requesters, providers: providers.slice(0, Math.min(count, AT_ONCE)) };
      const { step, refused } = await measure(context, setup, count);
      steps.push(step);
      if (refused > 0)
        wrong.push(`${count} clusters: ${refused} requests were refused though there was room`);
    }
    return { steps, wrong };
  });
}

interface GrowthSetup {
  readonly subject: Subject;
  readonly requesters: readonly Identity[];
  readonly providers: readonly Identity[];
}

function measure(
  { size, signal }: Context,
  { subject, requesters, providers }: GrowthSetup,
  clusters: number,
): Promise<{ readonly step: ClustersStep; readonly refused: number }> {
  return withCleanup(async (onCleanup: OnCleanup) => {
    const pid = pidOf({ pid: subject.broker?.pid });
    const asking = await connectAll(subject, requesters, { later: onCleanup });
    // With those before, as many as so few clusters may have at once.
    const count = Math.min(RESERVATIONS[size], MOST_PER_CLUSTER * clusters);
    const reserve = (name: string, of: number) =>
      fill(asking, { count: of, request: requestFor(SMALL), name: `${name}-${clusters}`, signal });
    const warm = await reserve("warm", Math.ceil(count / 4));
    const before = cpuTimeOf(pid).exactMs;
    const answers = await reserve("grow", count);
    const reservationUs = (1000 * (cpuTimeOf(pid).exactMs - before)) / count;
    // A provider is told in each reply what it holds: with few clusters each would hold thousands.
    await releaseAll([...warm, ...answers]);
    const connections = await connectAll(subject, providers, { later: onCleanup });
    const advertisementUs = await advertisementCost(pid, connections);
    // After the work of each step, so that the first one, too, has the heap that work needs.
    await sleep(SETTLE_MS[size], undefined, { signal });
    const { rssMb } = memoryOf(pid);
    return {
      step: { clusters, reservationUs, advertisementUs, rssMb },
      refused: answers.filter(({ status }) => status !== 201).length,
    };
  });
}

async function advertisementCost(pid: number, connections: readonly Connection[]): Promise<number> {
  const rounds = Math.ceil(ADVERTISEMENTS / connections.length);
  const before = cpuTimeOf(pid).exactMs;
  for (let round = 0; round < rounds; round++) await Promise.all(connections.map(advertiseOwnSize));
  return (1000 * (cpuTimeOf(pid).exactMs - before)) / (rounds * connections.length);
}

/** Each connects, advertises and goes away again. */
async function advertiseOnce(
  subject: Subject,
  identities: readonly Identity[],
  signal: AbortSignal,
): Promise<void> {
  for (let from = 0; from < identities.length; from += AT_ONCE) {
    signal.throwIfAborted();
    await withCleanup((onCleanup) =>
      connectAll(subject, identities.slice(from, from + AT_ONCE), {
        later: onCleanup,
        begin: advertiseOwnSize,
      }),
    );
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

const PODS: Readonly<Record<Size, readonly number[]>> = {
  smoke: [200, 2000],
  quick: [200, 2000, 20_000],
  full: [200, 2000, 20_000, 150_000],
};
const PODS_PER_NODE = 30;
const PODS_SETTLE_MS: Readonly<Record<Size, number>> = { smoke: 500, quick: 3000, full: 15_000 };

/** One agent after the other, in larger and larger clusters. */
export function growPods(
  context: Context,
  onShare: (share: number, doing: string) => void,
): Promise<PodsStep[]> {
  return withCleanup(async (onCleanup) => {
    const subject = await openSubject(context, onCleanup);
    const steps: PodsStep[] = [];
    const sizes = PODS[context.size];
    for (const [index, pods] of sizes.entries()) {
      onShare(index / sizes.length, `an agent in a cluster of ${countText(pods)} pods`);
      const identity = subject.identities(sizes.length)[index];
      if (identity === undefined) throw new Error("a cluster is needed");
      steps.push(
        await withCleanup(async (ending) => {
          // A process of its own for each: the memory of a large one would be in the way of the next.
          const clusters = startClusters();
          ending(clusters.stop);
          const nodes = Math.max(1, Math.ceil(pods / PODS_PER_NODE));
          const kubeconfig = await clusters.add({ name: identity.clusterId, nodes, pods });
          const agent = await startMeasuredAgent(context, {
            clusterId: identity.clusterId,
            broker: { port: subject.port },
            certificates: { cluster: () => identity.credentials },
            kubeconfig,
          });
          ending(agent.dispose);
          const syncCpuMs = cpuTimeOf(pidOf(agent)).exactMs;
          await sleep(PODS_SETTLE_MS[context.size], undefined, { signal: context.signal });
          const { rssMb, privateMb } = memoryOf(pidOf(agent));
          return { pods, nodes, syncCpuMs, rssMb, privateMb };
        }),
      );
    }
    return steps;
  });
}
