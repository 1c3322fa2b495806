import { setTimeout as sleep } from "node:timers/promises";
import { advertisementCall } from "@resource-broker/client";
import { NODES } from "@resource-broker/kube";
import {
  type BrokerProcess,
  PROVIDER_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  type SeededRandom,
  until,
  type WorldCluster,
} from "@resource-broker/testkit";
import { type FaultyServers, injectFault, SERVER_FAULTS, type ServerFault } from "../frame/faulty-servers.ts";
import type { Requests } from "./requests.ts";
import { readSnapshot } from "./snapshot.ts";
import { violations } from "./violations.ts";

/** Far above what is promised: whoever needs longer shall still be seen to come back. */
const ACT_WITHIN_MS = 60_000;
/** How long a fault lasts. Some pauses are longer than any call waits for its answer. */
const LONGEST_MS: Readonly<Record<ServerFault, number>> = { kill: 2_000, pause: 10_000, cut: 4_000 };
/** Sizes of a node: down is told at once, up within the 5 s between two advertisements. */
const SMALL_NODE = 48;
const LARGE_NODE = 64;

export interface Environment {
  readonly broker: BrokerProcess;
  readonly servers: FaultyServers;
  /** By ways that nothing harms but a kill or a pause. */
  readonly direct: ReadonlyMap<string, WorldCluster>;
  readonly requests: Requests;
}

export interface RoundReport {
  readonly cluster: string;
  readonly fault: ServerFault;
  readonly faultMs: number;
  /** From the moment in which the server served again. */
  readonly requestsMs: number;
  readonly providesMs: number;
  readonly advertisesMs: number;
  readonly live: number;
  readonly violations: readonly string[];
}

export async function runRound(environment: Environment, random: SeededRandom): Promise<RoundReport> {
  const { direct, servers, requests } = environment;
  const names = [...direct.keys()];
  const cluster = random.pick(names) ?? "";
  const other = random.pick(names.filter((name) => name !== cluster)) ?? "";
  const fault = random.pick(SERVER_FAULTS) ?? "kill";

  // What happens in the last moment: the agent may have seen it, or not.
  await Promise.all([requests.make(cluster, other), requests.make(other, cluster)]);
  await requests.deleteOldest(cluster);
  const faultAt = performance.now();
  const recover = await injectFault(fault, servers.server(cluster));
  await requests.make(other, cluster);
  await requests.deleteOldest(other);
  if (fault === "cut") {
    await requests.make(cluster, other);
    await requests.deleteOldest(cluster);
  }
  await sleep(random.between(100, LONGEST_MS[fault]));
  await recover();
  const recoveredAt = performance.now();

  const acts = [
    requestsAgain(environment, cluster, other),
    providesAgain(environment, cluster, other),
    advertises(environment, cluster),
  ];
  const ends = await Promise.all(
    acts.map(async (act) => {
      const problem = await act.then(
        () => undefined,
        (error: unknown) => String(error),
      );
      return { tookMs: performance.now() - recoveredAt, problem };
    }),
  );
  const found = ends.flatMap(({ problem }) => problem ?? []);
  const [requestsMs = 0, providesMs = 0, advertisesMs = 0] = ends.map(({ tookMs }) => tookMs);
  return {
    cluster,
    fault,
    faultMs: recoveredAt - faultAt,
    requestsMs,
    providesMs,
    advertisesMs,
    live: requests.all().filter(({ isWanted }) => isWanted).length,
    violations: [...found, ...(await settled(environment))],
  };
}

/** What is asked for there now becomes usable. */
async function requestsAgain(
  { requests, direct }: Environment,
  cluster: string,
  other: string,
): Promise<void> {
  const { name } = await requests.make(cluster, other);
  await until(
    `${cluster} borrows again`,
    async () =>
      (await direct.get(cluster)?.find(RESOURCE_REQUESTS, name))?.status?.phase === "Active" || undefined,
    ACT_WITHIN_MS,
  );
}

/** What others are given there now is held. */
async function providesAgain(
  { requests, direct }: Environment,
  cluster: string,
  other: string,
): Promise<void> {
  const { name } = await requests.make(other, cluster);
  await until(
    `${cluster} lends again`,
    async () => {
      const { status } = (await direct.get(other)?.find(RESOURCE_REQUESTS, name)) ?? {};
      const instructionName = `${status?.reservationName}-provider`;
      return (
        (await direct.get(cluster)?.find(PROVIDER_INSTRUCTIONS, instructionName))?.status?.enforced ||
        undefined
      );
    },
    ACT_WITHIN_MS,
  );
}

/** What its node has now is advertised. */
async function advertises({ broker, direct }: Environment, cluster: string): Promise<void> {
  const place = direct.get(cluster);
  const name = { name: `${cluster}-1` };
  const node = await until("the node is read", async () => place?.client.get(NODES, name));
  const cpu = String(node.status?.allocatable?.["cpu"]) === String(LARGE_NODE) ? SMALL_NODE : LARGE_NODE;
  const body = { status: { allocatable: { cpu: String(cpu) }, capacity: { cpu: String(cpu) } } };
  const patch = { kind: "merge", body } as const;
  await until("the node is changed", async () =>
    place?.client.patch(NODES, { name, patch }, { subresource: "status" }),
  );
  await until(
    `${cluster} advertises again`,
    async () => {
      const { value } = await broker.api().request(advertisementCall(cluster));
      return value.resources.allocatable.cpu === String(cpu) || undefined;
    },
    ACT_WITHIN_MS,
  );
}

/** What is still wrong when everybody had the time to put it right. */
async function settled({ broker, direct, requests }: Environment): Promise<readonly string[]> {
  let wrong: readonly string[] = [];
  const look = async (): Promise<true | undefined> => {
    wrong = violations(requests.all(), await readSnapshot(broker, [...direct.values()]));
    return wrong.length === 0 || undefined;
  };
  await until("all books agree", look, ACT_WITHIN_MS).catch(() => undefined);
  return wrong;
}
