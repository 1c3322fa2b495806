import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createPublicKey } from "node:crypto";
import { type AdvertisementDTO, HEADER, IDENTITY_SECRET, PATH, SIGNED_TEXT } from "@resource-broker/contract";
import type { PolicyDTO } from "@resource-broker/contract/testing";
import { SECRETS } from "@resource-broker/kube";
import { publicKeyHash, readIdentityKey, signText } from "@resource-broker/runtime";
import {
  type BrokerClient,
  brokerClient,
  type ClusterPlan,
  type RealLiqoCluster,
  type RealLiqoControlPlanes,
  realLiqoControlPlanes,
  startWorld,
  until,
  type World,
  type WorldCluster,
} from "@resource-broker/testkit";

const SHOWN_LINES = 20;
/** Longer than the minute between two resyncs. */
const RESYNC_MS = 100_000;
/** Where the pods of the tests are, in each cluster. */
const NAMESPACES = ["shop", "night"];

export const TWO_CLUSTERS: readonly ClusterPlan[] = [
  { name: "rome", nodes: [{ cpu: "8", memory: "32Gi", ephemeralStorage: "100Gi" }] },
  {
    name: "paris",
    nodes: [
      { cpu: "16", memory: "64Gi", ephemeralStorage: "200Gi", gpus: { count: "4", model: "NVIDIA-A100" } },
    ],
  },
];

/** Clusters with the real Liqo, and agents with the shipped rights. */
export interface RealLiqoWorld extends World {
  readonly liqo: RealLiqoControlPlanes;
  /** What the agent of this cluster has started liqoctl, or relay peering, for so far, in order: `peer`, `unpeer`, `force unpeer` … */
  readonly liqoctlCalls: (name: string) => Promise<string[]>;
  /** Calls the broker as this cluster's agent: with its certificate and, where it has one, its identity key. */
  readonly callerAs: (name: string) => Promise<Pick<BrokerClient, "request" | "close">>;
  /** Writes the last lines of every program to stderr: for `onTestFailed`. */
  readonly printLastLines: () => Promise<void>;
}

/** Who asks whom, each with its Liqo. */
export interface Direction {
  readonly world: RealLiqoWorld;
  readonly requester: WorldCluster;
  readonly provider: WorldCluster;
  readonly at: { readonly requester: RealLiqoCluster; readonly provider: RealLiqoCluster };
}

export function directionOf(world: RealLiqoWorld, requester: string, provider: string): Direction {
  const at = { requester: world.liqo.cluster(requester), provider: world.liqo.cluster(provider) };
  return { world, requester: world.cluster(requester), provider: world.cluster(provider), at };
}

/** Resolves when every agent has told the broker its Liqo's ID. */
export async function startRealLiqoWorld(
  plans: readonly ClusterPlan[],
  mode: "liqoctl" | "relay" = "liqoctl",
  policy?: PolicyDTO,
): Promise<RealLiqoWorld> {
  const liqo = realLiqoControlPlanes({ names: plans.map(({ name }) => name), mode });
  const recorded = mode === "liqoctl" ? plans : [];
  const recorders = new Map(recorded.map(({ name }) => [name, recorderOf(liqo, name)]));
  for (const { write } of recorders.values()) await write();
  const clusters = plans.map((plan) => ({
    ...plan,
    flags: [...liqo.agentFlags(plan.name), ...(recorders.get(plan.name)?.flags ?? []), ...(plan.flags ?? [])],
  }));
  const world = await startWorld({ clusters, controlPlanes: liqo, ...(policy && { policy }) });
  for (const { name, hasAgent = true } of clusters) if (hasAgent) await untilKnown(world, name);
  const namespaces = NAMESPACES.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
  for (const { name } of clusters) await liqo.cluster(name).plane.seed(namespaces);
  const liqoctlCalls = async (name: string) =>
    (await recorders.get(name)?.calls()) ?? jobsIn(await world.agent(name).logLines());
  const printLastLines = async (): Promise<void> => {
    for (const { name, hasAgent = true } of clusters) {
      const agent = hasAgent ? (await world.agent(name).logLines()).slice(-SHOWN_LINES) : [];
      const calls = `== ${name}: liqoctl for ${(await liqoctlCalls(name)).join(", ")}`;
      const words = [await liqo.cluster(name).lastLogLines(), `== ${name}: agent`, ...agent, calls];
      process.stderr.write(`${words.join("\n")}\n`);
    }
  };
  return { ...world, liqo, printLastLines, liqoctlCalls, callerAs: (name) => callerAs(world, name) };
}

async function callerAs(
  { agent, broker, cluster }: World,
  name: string,
): ReturnType<RealLiqoWorld["callerAs"]> {
  const textOf = (file: string) => readFile(join(agent(name).certificateFolder, file), "utf8");
  const [cert, key, ca] = await Promise.all(["tls.crt", "tls.key", "ca.crt"].map(textOf));
  const credentials = { cert: cert ?? "", key: key ?? "", ca: ca ?? "" };
  const client = brokerClient({ clusterId: name, credentials, port: broker.port });
  const secret = { name: IDENTITY_SECRET.name, namespace: "rear-agent" };
  const pem = (await cluster(name).client.find(SECRETS, secret))?.data?.[IDENTITY_SECRET.identityKey];
  if (pem === undefined) return client;
  const identity = readIdentityKey(Buffer.from(pem, "base64").toString());
  const text = SIGNED_TEXT.certificateKey(name, publicKeyHash(createPublicKey(credentials.cert)));
  const headers = { [HEADER.agentIdentity]: `${identity.id}.${signText(text, identity)}` };
  return { ...client, request: (method, path, more) => client.request(method, path, { ...more, headers }) };
}

/** A request that was made before would wait for the next resync. */
async function untilKnown({ broker }: World, clusterId: string): Promise<void> {
  await until(
    `${clusterId} tells who it is to Liqo`,
    async () => {
      const { body } = await broker.admin().request("GET", PATH.advertisement(clusterId));
      return (body as Partial<AdvertisementDTO>).liqo;
    },
    RESYNC_MS,
  );
}

/** What the agent has begun in relay mode, by its log. */
export function jobsIn(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    if (!line.includes("relay peering has started")) return [];
    return /"job":"([a-z-]+)"/.exec(line)?.[1]?.replace("force-", "force ") ?? [];
  });
}

/** A program that writes down what it is started for, and is liqoctl. */
function recorderOf(liqo: RealLiqoControlPlanes, name: string) {
  const program = liqo.agentFlags(name).find((flag) => flag.startsWith("--liqoctl="));
  const path = join(dirname(liqo.kubeconfigs(name)), `liqoctl-of-${name}`);
  const text = `#!/bin/sh\necho "$*" >> ${path}.calls\nexec ${program?.split("=")[1]} "$@"\n`;
  return {
    flags: [`--liqoctl=${path}`],
    write: () => writeFile(path, text, { mode: 0o700 }),
    calls: async () => {
      const lines = await readFile(`${path}.calls`, "utf8").catch(() => "");
      return lines.split("\n").flatMap((line) => /^[a-z ]+(?= --)/.exec(line)?.[0] ?? []);
    },
  };
}
