import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { parseAmount } from "@resource-broker/base";
import { LIMIT, PATH, type ReservationDTO } from "@resource-broker/contract";
import {
  apiVersionOf,
  type ClusterAdvertisement,
  type Reservation,
  reservationKind,
} from "@resource-broker/contract/crd";
import { createKubeClient, loadKubeConfig } from "@resource-broker/kube";
import { systemClock } from "@resource-broker/runtime";
import {
  advertisementBody,
  CLUSTER_ADVERTISEMENTS,
  RESERVATIONS,
  until,
  type World,
} from "@resource-broker/testkit";
import { expect } from "vitest";
import type { BrokerTransport } from "../../src/transport/broker-communicator.ts";
import { kubernetesTransport } from "../../src/transport/kubernetes/kubernetes-transport.ts";

export interface CrowdSize {
  readonly agents: number;
  readonly reservations: number;
  readonly forMs: number;
}

const PUBLISH_EVERY_MS = 2000;
const EACH = { cpu: 8, memoryGi: 32 };
const silent = (): void => undefined;
const NO_LOG = { info: silent, warn: silent, error: silent };

/** Agents that publish again and again while people create and delete Reservations: what of it was wrong. */
export async function crowd(world: World, size: CrowdSize): Promise<string[]> {
  const names = Array.from({ length: size.agents }, (_, index) => `city-${index + 1}`);
  const agents = await Promise.all(names.map((name) => communicatorOf(world, name)));
  const problems: string[] = [];
  const stopping = new AbortController();
  const publishing = agents.map((agent, index) =>
    publishUntil(agent, names[index] ?? "", { problems, signal: stopping.signal }),
  );
  const watching = watchSums(world, { problems, signal: stopping.signal });
  const hub = world.cluster("hub");
  await until("all clusters are known", async () => {
    const known = await hub.list(CLUSTER_ADVERTISEMENTS);
    return known.filter(({ status }) => status?.phase === "Active").length === names.length || undefined;
  });
  await createAll(world, size);
  await until("all Reservations are decided", async () => {
    const all = await hub.list(RESERVATIONS);
    return all.every(({ status }) => status?.phase !== undefined && status.phase !== "Pending") || undefined;
  });
  stopping.abort();
  await Promise.all([...publishing, watching]);
  // What is shown may lag behind the ledger for a moment; it must catch up.
  await until("what is shown equals the ledger", async () => {
    const wrong = await overlappingReservations(world);
    if (wrong.length > 0) throw new Error(wrong.join("; "));
    return true;
  }).catch((error: unknown) => problems.push(String(error)));
  await Promise.all(agents.map((agent) => agent.close()));
  return problems;
}

async function communicatorOf(world: World, clusterId: string): Promise<BrokerTransport> {
  const { kubeconfigFile } = world.cluster("hub");
  const clock = systemClock(() => Math.round(performance.timeOrigin + performance.now()));
  const config = await loadKubeConfig({ files: [kubeconfigFile], env: {} });
  const client = createKubeClient(config, { clock, log: NO_LOG, env: {} });
  const deps = { client, clock, random: () => 0.5, randomBytes, log: NO_LOG };
  return kubernetesTransport({ namespace: "default", clusterId }, deps);
}

interface BackgroundTask {
  readonly problems: string[];
  readonly signal: AbortSignal;
}

async function publishUntil(
  agent: BrokerTransport,
  name: string,
  { problems, signal }: BackgroundTask,
): Promise<void> {
  for (let sequence = 1; !signal.aborted; sequence++) {
    try {
      const timestamp = new Date(performance.timeOrigin + performance.now()).toISOString();
      const post = { ...advertisementBody(name, EACH), timestamp, instance: "crowd", sequence };
      const { advertisement } = await agent.publishAdvertisement(post);
      if (advertisement.resources.reserved === undefined)
        problems.push(`${name} was not told what is reserved`);
    } catch (error) {
      problems.push(`${name} could not publish: ${String(error)}`);
    }
    await sleep(PUBLISH_EVERY_MS, undefined, { signal }).catch(silent);
  }
}

async function createAll(world: World, { agents, reservations, forMs }: CrowdSize): Promise<void> {
  const { client } = world.cluster("hub");
  for (let number = 0; number < reservations; number++) {
    const reservation: Reservation = {
      apiVersion: apiVersionOf(reservationKind),
      kind: "Reservation",
      metadata: { name: `order-${number}`, namespace: "default" },
      spec: {
        requesterID: `city-${(number % agents) + 1}`,
        requestedResources: { cpu: "2", memory: "4Gi" },
      },
    };
    await client.create(RESERVATIONS, reservation);
    // Every fourth one is given back while the others still arrive.
    if (number % 4 === 3)
      await client.delete(RESERVATIONS, { name: `order-${number - 3}`, namespace: "default" });
    await sleep(forMs / reservations);
  }
}

/** What an advertisement shows as reserved is never more than it has, and with what is available makes the whole. */
async function watchSums(world: World, { problems, signal }: BackgroundTask): Promise<void> {
  const hub = world.cluster("hub");
  while (!signal.aborted) {
    for (const object of await hub.list(CLUSTER_ADVERTISEMENTS)) problems.push(...wrongSum(object));
    await sleep(200, undefined, { signal }).catch(silent);
  }
}

function wrongSum({ metadata, spec: { resources } }: ClusterAdvertisement): string[] {
  const { allocatable, allocated, reserved, available } = resources;
  if (reserved === undefined || available === undefined) return [];
  const [all, own, reservedMillis, left] = [allocatable, allocated, reserved, available].map(({ cpu }) =>
    millis(cpu),
  );
  if (all === undefined || own === undefined || reservedMillis === undefined || left === undefined)
    return ["no numbers"];
  return reservedMillis + left + own === all
    ? []
    : [`${metadata.name}: ${reservedMillis} + ${left} + ${own} is not ${all}`];
}

/** The ledger, as an admin reads it, against what was granted. */
async function overlappingReservations(world: World): Promise<string[]> {
  const { status, body } = await world.broker
    .admin()
    .request("GET", `${PATH.reservations}?limit=${LIMIT.pageMax}`);
  expect(status).toBe(200);
  const live = (body as ReservationDTO[]).filter((each) =>
    ["Reserved", "Active"].includes(each.status.phase),
  );
  const provided = new Map<string, number>();
  for (const { targetClusterID, requestedResources } of live) {
    provided.set(targetClusterID, (provided.get(targetClusterID) ?? 0) + millis(requestedResources.cpu));
  }
  const problems = [...provided]
    .filter(([, sum]) => sum > EACH.cpu * 1000)
    .map(([id, sum]) => `${id} lends ${sum}`);
  for (const { metadata, spec } of await world.cluster("hub").list(CLUSTER_ADVERTISEMENTS)) {
    const shown = millis(spec.resources.reserved?.cpu ?? "0");
    const sum = provided.get(spec.clusterID) ?? 0;
    if (shown !== sum) problems.push(`${metadata.name} shows ${shown} and lends ${sum}`);
  }
  return problems;
}

function millis(cpu: string): number {
  const parsed = parseAmount(cpu, { unit: "milli", rounding: "up" });
  return parsed.ok ? parsed.amount : Number.NaN;
}
