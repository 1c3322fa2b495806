import { join } from "node:path";
import { PATH } from "@resource-broker/contract";
import {
  seededRandom,
  startWorld,
  until,
  type World,
  type WorldCluster,
  worldCluster,
} from "@resource-broker/testkit";
import type { FaultyServers } from "../frame/faulty-servers.ts";
import { requestsIn } from "./requests.ts";
import { type RoundReport, runRound } from "./round.ts";

/** Each borrows from the other. */
const CLUSTERS = ["rome", "paris"];
const NODE = { cpu: "64", memory: "256Gi" };

export interface CampaignOptions {
  readonly rounds: number;
  readonly seed: number;
  readonly servers: FaultyServers;
  readonly print: (line: string) => void;
}

export interface CampaignResult {
  readonly rounds: number;
  readonly requests: number;
  /** The longest that an agent needed, after its server was back, until it had borrowed, lent and advertised. */
  readonly slowestMs: number;
  /** Empty when nothing was missed, lost or doubled. */
  readonly violations: readonly string[];
}

/** Harms API servers again and again under running agents, and looks for what was missed, lost or doubled. */
export async function runCampaign({
  rounds,
  seed,
  servers,
  print,
}: CampaignOptions): Promise<CampaignResult> {
  const clusters = CLUSTERS.map((name) => ({ name, nodes: [NODE] }));
  const world = await startWorld({ clusters, controlPlanes: servers });
  const direct = await directClients(world, servers);
  try {
    for (const name of CLUSTERS) await until(`${name} is advertised`, () => isAdvertised(world, name));
    const requests = requestsIn(direct);
    const environment = { broker: world.broker, servers, direct, requests };
    const random = seededRandom(seed);
    const reports: RoundReport[] = [];
    while (reports.length < rounds && (reports.at(-1)?.violations ?? []).length === 0) {
      const report = await runRound(environment, random);
      reports.push(report);
      print(`round ${reports.length}: ${lineOf(report)}`);
    }
    return {
      rounds: reports.length,
      requests: requests.all().length,
      slowestMs: Math.max(...reports.map(slowestOf)),
      violations: reports.at(-1)?.violations ?? [],
    };
  } finally {
    for (const { client } of direct.values()) client.close();
    await world.dispose();
  }
}

async function directClients(
  world: World,
  servers: FaultyServers,
): Promise<ReadonlyMap<string, WorldCluster>> {
  const ways = CLUSTERS.map(async (name) => {
    const { kubeconfig } = servers.server(name);
    const kubeconfigFile = join(world.directory, name, "kubeconfig-beside");
    return [name, await worldCluster({ name, kubeconfig, kubeconfigFile })] as const;
  });
  return new Map(await Promise.all(ways));
}

async function isAdvertised({ broker }: World, name: string): Promise<true | undefined> {
  return (await broker.admin().request("GET", PATH.advertisement(name))).status === 200 || undefined;
}

function slowestOf({ requestsMs, providesMs, advertisesMs }: RoundReport): number {
  return Math.max(requestsMs, providesMs, advertisesMs);
}

function lineOf(report: RoundReport): string {
  const { fault, cluster, faultMs, requestsMs, providesMs, advertisesMs, live } = report;
  const verdict =
    report.violations.length === 0
      ? `${live} reservations, all as they should be`
      : `${report.violations.length} VIOLATIONS`;
  return (
    `${fault.padEnd(5)} ${cluster.padEnd(5)} for ${seconds(faultMs)}; borrows after ${seconds(requestsMs)}, ` +
    `lends after ${seconds(providesMs)}, advertises after ${seconds(advertisesMs)}; ${verdict}`
  );
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
