import { setTimeout as sleep } from "node:timers/promises";
import { advertisementSchema, PATH } from "@resource-broker/contract";
import { NODES } from "@resource-broker/kube";
import {
  type BrokerProcess,
  PROVIDER_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  type SeededRandom,
  until,
  type WorldCluster,
} from "@resource-broker/testkit";
import { bodyOf, readBooks } from "./books.ts";
import { begin, type Harm, HARMS, lastsMs } from "./harm.ts";
import type { HarmedServers } from "./servers.ts";
import { violations } from "./violations.ts";
import type { Wishes } from "./wishes.ts";

/** Far above what is promised: whoever needs longer shall still be seen to come back. */
const ACT_WITHIN_MS = 60_000;
/** Sizes of a node: down is told at once, up within the 5 s between two advertisements. */
const SMALL_NODE = 48;
const LARGE_NODE = 64;

export interface Stage {
  readonly broker: BrokerProcess;
  readonly servers: HarmedServers;
  /** By ways that nothing harms but a kill or a pause. */
  readonly beside: ReadonlyMap<string, WorldCluster>;
  readonly wishes: Wishes;
}

export interface RoundReport {
  readonly cluster: string;
  readonly harm: Harm;
  readonly harmedMs: number;
  /** From the moment in which the server served again. */
  readonly borrowsMs: number;
  readonly lendsMs: number;
  readonly advertisesMs: number;
  readonly live: number;
  readonly violations: readonly string[];
}

export async function runRound(stage: Stage, random: SeededRandom): Promise<RoundReport> {
  const { beside, servers, wishes } = stage;
  const names = [...beside.keys()];
  const cluster = random.pick(names) ?? "";
  const other = random.pick(names.filter((name) => name !== cluster)) ?? "";
  const harm = random.pick(HARMS) ?? "kill";

  // What happens in the last moment: the agent may have seen it, or not.
  await Promise.all([wishes.make(cluster, other), wishes.make(other, cluster)]);
  await wishes.takeBack(cluster);
  const harmedAt = performance.now();
  const mend = await begin(harm, servers.server(cluster));
  await wishes.make(other, cluster);
  await wishes.takeBack(other);
  if (harm === "cut") {
    await wishes.make(cluster, other);
    await wishes.takeBack(cluster);
  }
  await sleep(lastsMs(harm, random));
  await mend();
  const mendedAt = performance.now();

  const acts = [borrows(stage, cluster, other), lends(stage, cluster, other), advertises(stage, cluster)];
  const ends = await Promise.all(
    acts.map(async (act) => {
      const problem = await act.then(
        () => undefined,
        (error: unknown) => String(error),
      );
      return { tookMs: performance.now() - mendedAt, problem };
    }),
  );
  const found = ends.flatMap(({ problem }) => problem ?? []);
  const [borrowsMs = 0, lendsMs = 0, advertisesMs = 0] = ends.map(({ tookMs }) => tookMs);
  return {
    cluster,
    harm,
    harmedMs: mendedAt - harmedAt,
    borrowsMs,
    lendsMs,
    advertisesMs,
    live: wishes.all().filter(({ isWanted }) => isWanted).length,
    violations: [...found, ...(await settled(stage))],
  };
}

/** What is asked for there now becomes usable. */
async function borrows({ wishes, beside }: Stage, cluster: string, other: string): Promise<void> {
  const { name } = await wishes.make(cluster, other);
  await until(
    `${cluster} borrows again`,
    async () =>
      (await beside.get(cluster)?.find(RESOURCE_REQUESTS, name))?.status?.phase === "Active" || undefined,
    ACT_WITHIN_MS,
  );
}

/** What others are given there now is held. */
async function lends({ wishes, beside }: Stage, cluster: string, other: string): Promise<void> {
  const { name } = await wishes.make(other, cluster);
  await until(
    `${cluster} lends again`,
    async () => {
      const { status } = (await beside.get(other)?.find(RESOURCE_REQUESTS, name)) ?? {};
      const hold = `${status?.reservationName}-provider`;
      return (await beside.get(cluster)?.find(PROVIDER_INSTRUCTIONS, hold))?.status?.enforced || undefined;
    },
    ACT_WITHIN_MS,
  );
}

/** What its node has now is advertised. */
async function advertises({ broker, beside }: Stage, cluster: string): Promise<void> {
  const place = beside.get(cluster);
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
      const reply = await broker.admin().request("GET", PATH.advertisement(cluster));
      return bodyOf(advertisementSchema, reply).resources.allocatable.cpu === String(cpu) || undefined;
    },
    ACT_WITHIN_MS,
  );
}

/** What is still wrong when everybody had the time to put it right. */
async function settled({ broker, beside, wishes }: Stage): Promise<readonly string[]> {
  let wrong: readonly string[] = [];
  const look = async (): Promise<true | undefined> => {
    wrong = violations(wishes.all(), await readBooks(broker, [...beside.values()]));
    return wrong.length === 0 || undefined;
  };
  await until("all books agree", look, ACT_WITHIN_MS).catch(() => undefined);
  return wrong;
}
