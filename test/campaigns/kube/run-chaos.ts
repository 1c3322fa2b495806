import { setTimeout as sleep } from "node:timers/promises";
import {
  CONFIG_MAPS,
  type Informer,
  informer,
  type KubeClient,
  PODS,
  type Resource,
} from "@resource-broker/kube";
import {
  kubeClientFor,
  MACHINE_CLOCK,
  NO_LOG,
  type SeededRandom,
  seededRandom,
  until,
} from "@resource-broker/testkit";
import { injectFault, SERVER_FAULTS, type ServerFault } from "../frame/faulty-servers.ts";
import { KIND_NAMES, type KindName, NAMESPACE, type Objects, type Versioned } from "./objects.ts";
import type { TargetServer } from "./target-server.ts";

export interface ChaosOptions {
  readonly target: TargetServer;
  readonly rounds: number;
  readonly seed: number;
  /** How long the server is away at most. */
  readonly longestMs: number;
  /** Given to the informers. Absent: what they do by themselves. */
  readonly follow?: { readonly idleMs: number; readonly maxBackoffMs: number };
  readonly onRound?: (round: RoundReport) => void;
}

export interface RoundReport {
  readonly round: number;
  readonly disruption: ServerFault;
  readonly downMs: number;
  /** How long after its return an object that was written then was known to each informer. */
  readonly recoveredAfterMs: Readonly<Record<KindName, number>>;
}

type Informers = Readonly<Record<KindName, Informer<string>>>;

const OBJECTS = 20;
/** Only a guard: a follower that is deaf would never hear it. */
const HANG_TIMEOUT_MS = 60_000;
const COMPACT_PROBABILITY = 0.3;

/**
 * Strikes the server again and again while objects change under two informers, one in protobuf and one in JSON. Throws
 * when one of them does not come to know what the server knows.
 */
export async function runChaos(options: ChaosOptions): Promise<readonly RoundReport[]> {
  const { target, rounds, seed, onRound } = options;
  const random = seededRandom(seed);
  const client = kubeClientFor(target.kubeconfig);
  const informers = { pods: follow(PODS, client, options), configmaps: follow(CONFIG_MAPS, client, options) };
  const reports: RoundReport[] = [];
  try {
    for (let count = 0; count < OBJECTS; count++) await change(target.objects, random);
    await Promise.all(Object.values(informers).map((each) => each.start()));
    for (let round = 1; round <= rounds; round++) {
      const report = await oneRound({ ...options, random, informers, round });
      reports.push(report);
      onRound?.(report);
    }
    return reports;
  } finally {
    await Promise.all(Object.values(informers).map((each) => each.stop()));
    client.close();
  }
}

function follow(
  resource: Resource<Versioned>,
  client: KubeClient,
  { follow: limits }: Pick<ChaosOptions, "follow">,
): Informer<string> {
  const transform = ({ metadata }: Versioned): string | undefined => metadata?.resourceVersion;
  const deps = { client, clock: MACHINE_CLOCK, log: NO_LOG, random: Math.random };
  return informer({ resource, namespace: NAMESPACE, pageSize: 7, ...limits, transform }, deps);
}

interface Round extends ChaosOptions {
  readonly random: SeededRandom;
  readonly informers: Informers;
  readonly round: number;
}

async function oneRound({ target, random, informers, round, longestMs }: Round): Promise<RoundReport> {
  const { objects } = target;
  const disruption = random.pick(SERVER_FAULTS) ?? "kill";
  const downMs = random.between(20, longestMs);
  const where = `round ${round}, ${disruption} for ${downMs} ms`;
  await change(objects, random);
  const recover = await injectFault(disruption, target.server);
  for (let step = 0; step < 4; step++) {
    if (target.canAlwaysChange || disruption === "cut") await change(objects, random);
    await sleep(downMs / 4);
  }
  if (random.chance(COMPACT_PROBABILITY)) target.compact();
  await recover();
  const returnedAt = performance.now();
  const recoveredAfterMs = { pods: 0, configmaps: 0 };
  await Promise.all(
    KIND_NAMES.map(async (kind) => {
      await writeMarker(objects, kind, round);
      await informerSees({ kind, round, informers, where });
      recoveredAfterMs[kind] = Math.round(performance.now() - returnedAt);
    }),
  );
  await Promise.all(KIND_NAMES.map((kind) => informerMatches({ kind, objects, informers, where })));
  await Promise.all(KIND_NAMES.map((kind) => objects.remove(kind, markerOf(round))));
  return { round, disruption, downMs, recoveredAfterMs };
}

/** The server is back: a write that fails is tried again. */
async function writeMarker(objects: Objects, kind: KindName, round: number): Promise<void> {
  await until(`a marker among the ${kind} is written`, async () => {
    await objects.put(kind, markerOf(round), String(round));
    return true;
  });
}

interface InformerCheck {
  readonly kind: KindName;
  readonly informers: Informers;
  readonly where: string;
}

async function informerSees({
  kind,
  round,
  informers,
  where,
}: InformerCheck & { readonly round: number }): Promise<void> {
  const key = `${NAMESPACE}/${markerOf(round)}`;
  const isKnown = () => Promise.resolve(informers[kind].get(key));
  await until(`${where}: the informer of ${kind} hears of a new object`, isKnown, HANG_TIMEOUT_MS);
}

async function informerMatches({
  kind,
  objects,
  informers,
  where,
}: InformerCheck & { readonly objects: Objects }): Promise<void> {
  const compare = async (): Promise<true> => {
    const wanted = textOf(await objects.versions(kind));
    const known = [...informers[kind].keys()].map((key): [string, string] => [
      key.slice(NAMESPACE.length + 1),
      informers[kind].get(key) ?? "",
    ]);
    const found = textOf(new Map(known));
    if (wanted !== found) throw new Error(`the server has ${wanted}; the informer has ${found}`);
    return true;
  };
  await until(`${where}: the informer of ${kind} agrees with the server`, compare, HANG_TIMEOUT_MS);
}

function textOf(versions: ReadonlyMap<string, string>): string {
  return [...versions]
    .map(([name, version]) => `${name}@${version}`)
    .toSorted()
    .join(" ");
}

function markerOf(round: number): string {
  return `marker-${round}`;
}

/** Something comes, changes or goes. Whatever the server did not take has not happened. */
async function change(objects: Objects, random: SeededRandom): Promise<void> {
  const kind = random.pick(KIND_NAMES) ?? "pods";
  const name = `object-${random.below(OBJECTS)}`;
  const isRemoved = random.chance(0.3);
  const value = String(random.below(1_000_000));
  try {
    await (isRemoved ? objects.remove(kind, name) : objects.put(kind, name, value));
  } catch {
    // It may be gone already, or the server may be away.
  }
}
