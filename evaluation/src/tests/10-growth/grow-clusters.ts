import { setTimeout as sleep } from "node:timers/promises";
import { memoryOf } from "@resource-broker/testkit";
import type { Context, Size } from "../../evaluation-test.ts";
import { cpuTimeOf } from "../../measure/cpu-time.ts";
import type { Connection } from "../../measure/load/connection.ts";
import { pidOf } from "../../measure/start-programs.ts";
import { type OnCleanup, withCleanup } from "../../measure/with-cleanup.ts";
import { countText } from "../../report/number-text.ts";
import { type Amounts, advertisementFor, requestFor } from "../subject/bodies.ts";
import { advertise } from "../subject/calls.ts";
import { fill, releaseAll } from "../subject/fill.ts";
import type { Identity } from "../subject/identity.ts";
import { connectAll, openSubject, type Subject } from "../subject/subject.ts";
import type { ClustersStep } from "./results.ts";

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
const SMALL: Amounts = { cpuMillis: 500, memoryMi: 256 };
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
    const [requesters, providers] = splitAt(subject.identities(REQUESTERS + most), REQUESTERS);
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
  for (let round = 0; round < rounds; round++)
    await Promise.all(
      connections.map((each) => advertise(each, advertisementFor(each.clusterId, sizeOf(each.clusterId)))),
    );
  return (1000 * (cpuTimeOf(pid).exactMs - before)) / (rounds * connections.length);
}

/** Each connects, advertises and goes away again. */
async function advertiseOnce(
  subject: Subject,
  identities: readonly Identity[],
  signal: AbortSignal,
): Promise<void> {
  const begin = (each: Connection): Promise<void> =>
    advertise(each, advertisementFor(each.clusterId, sizeOf(each.clusterId)));
  for (let from = 0; from < identities.length; from += AT_ONCE) {
    signal.throwIfAborted();
    await withCleanup((onCleanup) =>
      connectAll(subject, identities.slice(from, from + AT_ONCE), { later: onCleanup, begin }),
    );
  }
}

/** All different, so that few score alike; all so large that nobody runs out. */
function sizeOf(clusterId: string): Amounts {
  const number = Number(clusterId.slice(clusterId.lastIndexOf("-") + 1));
  return { cpuMillis: 8_000_000 + 1000 * (number % 97), memoryMi: 8_000_000 + 1024 * (number % 89) };
}

function splitAt<T>(list: readonly T[], at: number): [readonly T[], readonly T[]] {
  return [list.slice(0, at), list.slice(at)];
}
