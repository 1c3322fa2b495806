import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CONFIG_MAPS, type ConfigMap, SECRETS, type Secret } from "@resource-broker/kube";
import { type AgentProcess, startAgent, until, type WorldCluster } from "@resource-broker/testkit";
import { expect } from "vitest";
import { ask, logSeen, nodeOf, release, TIMEOUT_MS, untilReady } from "./directions.ts";
import { listingsOf, untilSame } from "./listings.ts";
import { type Direction, directionOf, jobsIn, type RealLiqoWorld } from "./real-liqo-world.ts";

const NAMESPACE = "rear-agent";
const IDENTITY = { name: "resource-broker-agent-identity", namespace: NAMESPACE };
const SMALL = { requestedCPU: "2", requestedMemory: "4Gi" };
const HOUR_MS = 3_600_000;

interface Backup {
  readonly cluster: WorldCluster;
  readonly identity: Secret;
  readonly pins: readonly ConfigMap[];
}

/** What only the agent itself writes into its namespace. */
async function backupOf(cluster: WorldCluster): Promise<Backup> {
  const pins: ConfigMap[] = [];
  await cluster.client.list(CONFIG_MAPS, { namespace: NAMESPACE }, (object) => {
    if (object.metadata.name.startsWith("rear-peer-")) pins.push(object);
  });
  return { cluster, identity: await cluster.client.get(SECRETS, IDENTITY), pins };
}

async function restore({ cluster: { client }, identity, pins }: Backup): Promise<void> {
  for (const { metadata, data = {} } of pins) {
    const { name, namespace = "", labels = {} } = metadata;
    await client.delete(CONFIG_MAPS, { name, namespace });
    await client.create(CONFIG_MAPS, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace, labels },
      data,
    });
  }
  const now = await client.get(SECRETS, IDENTITY);
  await client.update(SECRETS, { ...now, data: identity.data ?? {} });
}

/** Both agents come back with what they knew in an earlier peering; then one that has lost its pins. */
export async function expectUpAfterRestore(world: RealLiqoWorld): Promise<void> {
  const before = await listingsOf(world);
  const direction = directionOf(world, "rome", "paris");
  await ask(direction, "forgotten", SMALL);
  await untilReady(direction, "forgotten");
  const backups = await Promise.all([direction.requester, direction.provider].map(backupOf));
  expect(backups.map(({ pins }) => pins.length)).toEqual([1, 1]);
  await release(direction, "forgotten");
  await ask(direction, "standing", SMALL);
  const node = await untilReady(direction, "standing");
  const { uid } = (await nodeOf(direction, node)).metadata;
  for (const backup of backups) await stopped(world, backup.cluster.name, () => restore(backup));
  await untilReady(direction, "standing");
  expect((await nodeOf(direction, node)).metadata.uid).toBe(uid);
  await release(direction, "standing");
  await ask(direction, "restored", SMALL);
  await untilReady(direction, "restored");
  logSeen("both agents came back with the keys and pins of a backup: the node stayed, and another came up");
  await expectPinsMissed(direction, "restored");
  await release(direction, "restored");
  await untilSame(world, before);
}

/** The backup is older than the first contact: a lost pin beside a live peering is a person's business. */
async function expectPinsMissed(direction: Direction, name: string): Promise<void> {
  const { world, requester, at } = direction;
  const node = await untilReady(direction, name);
  const { uid } = (await nodeOf(direction, node)).metadata;
  const pin = { name: "rear-peer-paris", namespace: NAMESPACE };
  const { data: lost } = await requester.client.get(CONFIG_MAPS, pin);
  const seen = (await world.agent("rome").logLines()).length;
  await stopped(world, "rome", () => requester.client.delete(CONFIG_MAPS, pin));
  expect(await requester.client.find(CONFIG_MAPS, pin).then((found) => found?.data?.["key"])).toBeUndefined();
  await until(
    "a person has done what the agent names last",
    async () => {
      const lines = (await world.agent("rome").logLines()).slice(seen);
      const line = lines.findLast((each) => each.includes('"PeerPinLost"'));
      const { message = "" } = JSON.parse(line ?? "{}") as { readonly message?: string };
      const [, command] = /, then: kubectl (.*)$/.exec(message) ?? [];
      if (command === undefined) return undefined;
      const args = command.split(" ").map((arg) => arg.replaceAll("'", ""));
      const { exitCode, stderr } = await at.requester.plane.kubectl(args);
      if (exitCode === 0) return true;
      throw new Error(`kubectl ${command}: ${stderr}`);
    },
    TIMEOUT_MS,
  );
  // It looks at a refused statement again when something changes between the two.
  await ask(direction, "accepted", SMALL);
  const key = await until(
    "the key is pinned again",
    async () => (await requester.client.find(CONFIG_MAPS, pin))?.data?.["key"],
    TIMEOUT_MS,
  );
  expect(key).toBe(lost?.["key"]);
  await untilReady(direction, "accepted");
  await release(direction, "accepted");
  expect((await nodeOf(direction, node)).metadata.uid).toBe(uid);
  logSeen("a lost pin beside a live peering asked for a person, whose command pinned the same key");
}

async function stopped(world: RealLiqoWorld, name: string, act: () => Promise<unknown>): Promise<void> {
  const { kill, restart } = world.agent(name);
  await kill("SIGKILL");
  await act();
  await restart();
}

/** Somebody starts a second agent with a copy of the certificate: the broker knows whose identity key it is not. */
export async function expectTwinRefused(world: RealLiqoWorld): Promise<void> {
  const before = await listingsOf(world);
  const direction = directionOf(world, "rome", "paris");
  const { requester, at } = direction;
  await ask(direction, "first", SMALL);
  const node = await untilReady(direction, "first");
  const { uid } = (await nodeOf(direction, node)).metadata;
  const secret = { name: "twin", namespace: NAMESPACE };
  await requester.client.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata: secret });
  const twin = await secondAgent(world, "rome", {
    // With all rights: what holds it back is the broker alone.
    kubeconfig: at.requester.plane.kubeconfig,
    flags: [`--identity-secret=${NAMESPACE}/${secret.name}`],
    waits: false,
  });
  try {
    const refusal = /this is not the agent of rome/;
    await until(
      "the second agent says that the broker refuses it",
      async () => (refusal.test(await twin.readiness()) ? true : undefined),
      TIMEOUT_MS,
    );
    await ask(direction, "meanwhile", SMALL);
    await untilReady(direction, "meanwhile");
    expect(await twin.readiness()).toMatch(refusal);
    expect((await nodeOf(direction, node)).metadata.uid).toBe(uid);
    await release(direction, "meanwhile");
    logSeen("a second agent with rome's certificate and another key was refused; the first went on");
  } finally {
    await twin.dispose();
  }
  await requester.client.delete(SECRETS, secret);
  await release(direction, "first");
  await untilSame(world, before);
}

export interface WrongClocks {
  readonly name: string;
  /** By cluster, in hours. */
  readonly hours: Readonly<Record<"rome" | "paris", number>>;
}

export const WRONG_CLOCKS: readonly WrongClocks[] = [
  { name: "the requester's is an hour fast, the provider's an hour slow", hours: { rome: 1, paris: -1 } },
  { name: "the requester's is an hour slow, the provider's an hour fast", hours: { rome: -1, paris: 1 } },
];

/** Agents whose wall clocks are wrong peer, and end it, as often and as well as others. */
export async function expectRightWithWrongClock(world: RealLiqoWorld, { hours }: WrongClocks): Promise<void> {
  const before = await listingsOf(world);
  const direction = directionOf(world, "rome", "paris");
  const names = ["rome", "paris"] as const;
  const shifted: AgentProcess[] = [];
  try {
    for (const name of names) {
      await world.agent(name).stop();
      const environment = { CLOCK_SHIFT_MS: String(hours[name] * HOUR_MS) };
      shifted.push(await secondAgent(world, name, { environment }));
    }
    await ask(direction, "timeless", SMALL);
    await untilReady(direction, "timeless");
    await release(direction, "timeless");
    await untilSame(world, before);
    const jobs = (await Promise.all(shifted.map(({ logLines }) => logLines()))).flatMap(jobsIn);
    expect(jobs).toEqual(["peer", "unpeer"]);
  } finally {
    for (const agent of shifted) await agent.dispose();
    for (const name of names) await world.agent(name).restart();
  }
}

type More = Partial<Pick<Parameters<typeof startAgent>[0], "kubeconfig" | "flags" | "environment" | "waits">>;

/** Another agent process of a cluster: with its certificate, its rights and its flags, unless told otherwise. */
async function secondAgent(
  { agent, broker, directory, liqo }: RealLiqoWorld,
  name: string,
  { flags = [], environment = {}, ...more }: More,
): Promise<AgentProcess> {
  const textOf = (file: string) => readFile(join(agent(name).certificateFolder, file), "utf8");
  const [cert = "", key = "", ca = ""] = await Promise.all(["tls.crt", "tls.key", "ca.crt"].map(textOf));
  return startAgent({
    clusterId: name,
    broker,
    certificates: { cluster: () => ({ cert, key, ca }) },
    kubeconfig: await readFile(join(directory, name, "kubeconfig"), "utf8"),
    nodeFlags: ["--import", new URL("shifted-clock.ts", import.meta.url).href],
    environment,
    flags: [...liqo.agentFlags(name), ...flags],
    ...more,
  });
}
