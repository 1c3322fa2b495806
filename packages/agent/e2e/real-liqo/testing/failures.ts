import { setTimeout as sleep } from "node:timers/promises";
import { RESOURCE_SLICES, tenantNamespaceOf, VIRTUAL_NODES } from "@resource-broker/agent/liqo";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import { listingOf, RESOURCE_REQUESTS, until } from "@resource-broker/testkit";
import { expect } from "vitest";
import { ask, logSeen, release, TIMEOUT_MS, untilReady, untilRequest } from "./directions.ts";
import { listingsOf, untilSame } from "./listings.ts";
import { deploy, undeploy, untilPods, untilRunning, type Workload } from "./workloads.ts";
import { type Direction, type RealLiqoWorld, directionOf } from "./real-liqo-world.ts";

const WEB = { namespace: "shop", name: "web", replicas: 1, requests: { cpu: "1", memory: "1Gi" } };
/** Not the same namespace as the other direction's: docs/liqo.md. */
const BATCH = { ...WEB, namespace: "night", name: "batch" };
const NAME = "hit";
const LONG_MS = 180_000;

/** Whatever goes wrong; what it returns ends it. */
interface Fault {
  readonly name: string;
  /** True: Liqo at the provider may lose sight of a namespace that it has just made. */
  readonly isOfApiServer?: boolean;
  readonly inject: (direction: Direction) => Promise<() => Promise<unknown>>;
}

/** When it does. */
interface FaultPoint {
  readonly name: string;
  readonly isEnding: boolean;
  /** Resolves when it is reached. `calls`: how often the agent had started liqoctl before. */
  readonly reached: (direction: Direction, reservation: string, calls: number) => Promise<unknown>;
}

const API_SERVER: Fault = {
  name: "the provider's API server is killed",
  isOfApiServer: true,
  inject: async ({ at }) => {
    await at.provider.plane.apiServer.kill();
    return at.provider.plane.apiServer.restart;
  },
};
const API_SERVER_FOR_LONG: Fault = {
  name: "the provider's API is off for 3 minutes",
  isOfApiServer: true,
  inject: async (direction) => {
    const restart = await API_SERVER.inject(direction);
    await sleep(LONG_MS);
    return restart;
  },
};
const agent = (whose: "requester" | "provider"): Fault => ({
  name: `the ${whose}'s agent is killed`,
  inject: async (direction) => {
    const { kill, restart } = direction.world.agent(direction[whose].name);
    await kill("SIGKILL");
    return restart;
  },
});
const REQUESTERS_AGENT = agent("requester");
const PROVIDERS_AGENT = agent("provider");
/** Statements of relay peering are in its memory only. */
const BROKER: Fault = {
  name: "the broker is killed",
  inject: async ({ world }) => {
    await world.broker.kill("SIGKILL");
    return world.broker.restart;
  },
};

const calling = (name: string, verb: RegExp, isEnding: boolean): FaultPoint => ({
  name,
  isEnding,
  reached: ({ world, requester }, _, calls) =>
    until(
      `liqoctl is started for ${verb.source}`,
      async () => (await world.liqoctlCalls(requester.name)).slice(calls).find((call) => verb.test(call)),
      TIMEOUT_MS,
    ),
});
/** When the object of the reservation's name appears at the requester, or its replica at the provider. */
const appearing = (
  name: string,
  kind: typeof RESOURCE_SLICES | typeof VIRTUAL_NODES,
  where: "requester" | "provider" = "requester",
): FaultPoint => ({
  name,
  isEnding: false,
  reached: ({ at, ...direction }, reservation) => {
    const { liqoId } = where === "requester" ? at.provider : at.requester;
    const object = { name: reservation, namespace: tenantNamespaceOf(liqoId) };
    return until(name, () => direction[where].client.find<object>(kind, object), TIMEOUT_MS);
  },
});

const PEERING = calling("liqoctl peers", /^peer/, false);
const NODE = appearing("the node is made", VIRTUAL_NODES);
const UNPEER = calling("liqoctl unpeers", /^un/, true);
const MOMENTS: readonly FaultPoint[] = [
  PEERING,
  appearing("the slice is made", RESOURCE_SLICES),
  appearing("the provider grants", RESOURCE_SLICES, "provider"),
  NODE,
  { name: "the release begins", isEnding: true, reached: async () => undefined },
  UNPEER,
];

export interface Failure {
  readonly moment: FaultPoint;
  readonly fault: Fault;
}

/** Each fault at each step; and the few that stand for them in CI. */
export const FAILURES: readonly Failure[] = [
  ...[API_SERVER, REQUESTERS_AGENT, PROVIDERS_AGENT].flatMap((fault) =>
    MOMENTS.map((moment) => ({ moment, fault })),
  ),
  ...[NODE, UNPEER].map((moment) => ({ moment, fault: API_SERVER_FOR_LONG })),
  ...[PEERING, UNPEER].map((moment) => ({ moment, fault: BROKER })),
];
export const FEW_FAILURES: readonly Failure[] = [
  { moment: NODE, fault: API_SERVER },
  { moment: UNPEER, fault: API_SERVER },
  { moment: PEERING, fault: REQUESTERS_AGENT },
];
/** In relay mode the broker is between the two agents. */
export const FEW_RELAY_FAILURES: readonly Failure[] = [
  ...FEW_FAILURES,
  ...[PEERING, UNPEER].map((moment) => ({ moment, fault: BROKER })),
];

/** A reservation that is hit comes up, or ends, all the same; and nothing of it is left. */
export async function expectSurvival(world: RealLiqoWorld, { moment, fault }: Failure): Promise<void> {
  const direction = directionOf(world, "rome", "paris");
  const before = await listingsOf(world);
  const calls = (await world.liqoctlCalls("rome")).length;
  const strike = async (reservation: string): Promise<void> => {
    await moment.reached(direction, reservation, calls);
    const began = performance.now();
    const end = await fault.inject(direction);
    await end();
    logSeen(`${fault.name} while ${moment.name}, and was back after ${seconds(began)}`);
  };
  await ask(direction, NAME, offloading(WEB));
  const granted = await untilRequest(direction, NAME, ({ status }) => status?.reservationName !== undefined);
  const reservation = granted.status?.reservationName ?? "";
  if (!moment.isEnding) await strike(reservation);
  const began = performance.now();
  await untilReady(direction, NAME);
  await deploy(direction, WEB, { node: reservation });
  await untilRunning(direction, WEB, reservation);
  logSeen(`the node was ready, and a pod ran on it, ${seconds(began)} later`);
  if (moment.isEnding) {
    await direction.requester.client.delete(RESOURCE_REQUESTS, { name: NAME, namespace: "default" });
    await strike(reservation);
  }
  await undeploy(direction, WEB);
  if (!moment.isEnding) await release(direction, NAME);
  await untilSame(world, before, fault.isOfApiServer === true ? ABANDONED : []);
  if (fault.isOfApiServer === true) await deleteAbandoned(direction);
  logSeen(`liqoctl was started for ${(await world.liqoctlCalls("rome")).slice(calls).join(", ")}`);
}

/** One that is being deleted is not abandoned. */
const ABANDONED = [
  {
    line: /^(?!.*\(leaving\)$)(Namespace|ConfigMap|ServiceAccount|RoleBinding\S*) shop-liqo-rome[ /]/,
    why: "Liqo takes a namespace for gone that its cache does not have yet, after the API server was away (docs/liqo.md)",
  },
];

/** As docs/liqo.md says. */
async function deleteAbandoned({ at }: Direction): Promise<void> {
  const name = `${WEB.namespace}-${at.requester.liqoId}`;
  await at.provider.plane.kubectl(["delete", "namespace", name, "--ignore-not-found"]);
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

/**
 * The provider is gone for good, while it borrows here too: what was borrowed from it is taken down, what it borrows stays,
 * and nothing is forced. To be run last.
 */
export async function expectNothingForced(world: RealLiqoWorld): Promise<void> {
  const out = directionOf(world, "rome", "paris");
  const back = directionOf(world, "paris", "rome");
  const { requester, at } = out;
  await Promise.all([ask(out, NAME, offloading(WEB)), ask(back, "guest", offloading(BATCH))]);
  const [node, guestNode] = await Promise.all([untilReady(out, NAME), untilReady(back, "guest")]);
  await Promise.all([deploy(out, WEB, { node }), deploy(back, BATCH, { node: guestNode })]);
  await Promise.all([untilRunning(out, WEB, node), untilRunning(back, BATCH, guestNode)]);
  await world.agent("paris").kill("SIGKILL");
  for (const program of [at.provider.plane.apiServer, at.provider.plane.etcd]) await program.kill();
  let began = performance.now();
  const isReported = ({ status }: ResourceRequest): boolean =>
    status?.conditions?.some((each) => each.type === "Peered" && each.status === "False") === true;
  const { status } = await untilRequest(out, NAME, isReported);
  const received = status?.conditions?.find(({ type }) => type === "Peered");
  logSeen(`${seconds(began)} after the provider's death: ${received?.reason}: ${received?.message}`);
  began = performance.now();
  // Nobody ends its pods at the provider any more: they go when the release forces them.
  await at.requester.plane.kubectl(["-n", WEB.namespace, "delete", "deployment", WEB.name, "--wait=false"]);
  await requester.client.delete(RESOURCE_REQUESTS, { name: NAME, namespace: "default" });
  await until(
    "nothing of the reservation is left but the peering",
    async () => {
      const lines = await listingOf(requester.client);
      const left = lines.filter((line) => isOfIt(line, node) && !isProgressLine(line));
      if (left.length === 0) return true;
      await sleep(1000);
      throw new Error(left.join("\n"));
    },
    TIMEOUT_MS,
  );
  logSeen(`${seconds(began)} after the release nothing of it was left in rome but the peering`);
  const calls = await world.liqoctlCalls("rome");
  expect(calls.filter((call) => call.startsWith("force"))).toEqual([]);
  await untilPods(
    requester,
    `${BATCH.namespace}-${at.provider.liqoId}`,
    ([pod]) => pod?.status?.phase === "Running",
  );
  logSeen("what paris borrows in rome runs on, and liqoctl force unpeer was not started");
}

function isOfIt(line: string, node: string): boolean {
  return line.includes(node) || line.startsWith(`Pod ${WEB.namespace}/`);
}

/** The agent keeps telling what it still has to do. */
function isProgressLine(line: string): boolean {
  return line.startsWith("ReservationInstruction") || line.startsWith("ConfigMap liqo/liqo-peering-");
}

function offloading({ namespace }: Workload): Partial<ResourceRequest["spec"]> {
  return {
    requestedCPU: "2",
    requestedMemory: "4Gi",
    offload: { namespaces: [namespace], podOffloadingStrategy: "Remote" },
  };
}
