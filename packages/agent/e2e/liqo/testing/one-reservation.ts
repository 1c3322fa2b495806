import { type AdvertisementDTO, PATH } from "@resource-broker/contract";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import { type InProcessAgent, RESOURCE_REQUESTS, type WorldCluster } from "@resource-broker/testkit";
import { onTestFinished } from "vitest";
import { askFor } from "../../testing/resource-request.ts";
import { type FastClock, fastClock } from "./fast-clock.ts";
import { liqoObjectsIn } from "./liqo-objects.ts";
import { type LiqoWorld, startLiqoWorld } from "./liqo-world.ts";

/** rome borrows from paris; both agents are in this process, and their clock in the test's hands. */
export interface OneReservation {
  readonly world: LiqoWorld;
  readonly clock: FastClock;
  readonly rome: WorldCluster;
  readonly paris: WorldCluster;
  readonly agents: { readonly rome: InProcessAgent; readonly paris: InProcessAgent };
  readonly ask: (spec?: Partial<ResourceRequest["spec"]>) => Promise<void>;
  /** Resolves when the request is as wanted. */
  readonly seen: (isAsWanted: (request: ResourceRequest) => boolean) => Promise<ResourceRequest>;
  readonly remove: () => Promise<void>;
  /** Resolves when nothing is left there. */
  readonly clean: (cluster: WorldCluster) => Promise<void>;
}

export interface OneReservationOptions {
  readonly flags?: readonly string[];
}

const NAME = "loan";

export async function oneReservation({ flags = [] }: OneReservationOptions = {}): Promise<OneReservation> {
  const world = await startLiqoWorld({
    clusters: [
      { name: "rome", nodes: [{ cpu: "4", memory: "16Gi" }], hasAgent: false },
      { name: "paris", nodes: [{ cpu: "16", memory: "64Gi" }], hasAgent: false },
    ],
  });
  onTestFinished(world.dispose);
  const clock = fastClock(() => world.broker.admin().request("GET", PATH.health));
  const start = (name: string) =>
    advanceUntil(clock, world.startInProcess(name, { clock: clock.time, flags: [...world.flags, ...flags] }));
  const [rome, paris] = [world.cluster("rome"), world.cluster("paris")];
  const agents = { paris: await start("paris"), rome: await start("rome") };
  for (const { name } of [paris, rome]) {
    await clock.until(`${name} has told who it is to Liqo`, async () => {
      const { status, body } = await world.broker.admin().request("GET", PATH.advertisement(name));
      return status === 200 ? (body as AdvertisementDTO).liqo : undefined;
    });
  }
  const find = () => rome.find(RESOURCE_REQUESTS, NAME);
  return {
    world,
    clock,
    rome,
    paris,
    agents,
    ask: async (spec = {}) => void (await askFor(rome, NAME, spec)),
    seen: (isAsWanted) =>
      clock.until("the request is as wanted", async () => {
        const request = await find();
        if (request !== undefined && isAsWanted(request)) return request;
        throw new Error(`it is ${JSON.stringify(request?.status)}`);
      }),
    remove: () => rome.client.delete(RESOURCE_REQUESTS, { name: NAME, namespace: "default" }),
    clean: async (cluster) => {
      await clock.until(`nothing is left in ${cluster.name}`, async () => {
        const left = await liqoObjectsIn(cluster);
        if (left.length === 0) return true;
        throw new Error(left.join(", "));
      });
    },
  };
}

/** Time passes until it has ended: an agent that starts may wait for its own clock. */
async function advanceUntil<T>({ pass }: FastClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  while (!isOver) await pass(10);
  return ended;
}

export function peered({ status }: ResourceRequest) {
  return status?.conditions?.find(({ type }) => type === "Peered");
}
