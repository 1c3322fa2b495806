import { PATH } from "@resource-broker/contract";
import {
  RESERVATION_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  testCertificates,
  until,
} from "@resource-broker/testkit";
import type { Context } from "../../evaluation-test.ts";
import { startMeasuredAgent, startMeasuredBroker } from "../../measure/start-programs.ts";
import { type Later, withEndings } from "../../measure/with-endings.ts";
import type { Failure, Pair, Trial, VirtualNodes, Way } from "./figures.ts";
import type { Order } from "./messages.ts";
import {
  AMOUNTS,
  deleteSlices,
  endIdentities,
  openSite,
  PROVIDER,
  REQUESTER,
  type Site,
  untilApart,
  untilNoNode,
  untilReady,
  WITHIN_MS,
} from "./site.ts";

/** Makes one trial, and leaves everything as it was before it. */
type MakeTrial = (name: string) => Promise<Omit<Trial, "way" | "pair">>;
type Series = (way: Way, pair: Pair, make: MakeTrial) => Promise<void>;

/** Every trial of both ways, one after the other. */
export function measureNodes(order: Order, tell: Context["progress"]): Promise<VirtualNodes> {
  return withEndings(async (later) => {
    tell(0, "two control planes with Liqo start");
    const site = await openSite(order.folder, later);
    const trials: Trial[] = [];
    const failures: Failure[] = [];
    const total = 2 * (order.trials.first + order.trials.next + 2);
    let made = 0;
    // The first one of each is not counted.
    const series: Series = async (way, pair, make) => {
      for (let number = 0; number <= order.trials[pair]; number++) {
        const name = `${pair}-${number}`;
        tell(0.1 + (0.9 * made++) / total, `${way}, ${name}`);
        const trial = { way, pair, ...(await make(name)) };
        if (number > 0) trials.push(trial);
      }
    };
    const ways = { request: withRequests, liqoctl: byHand } as const;
    for (const [way, measure] of Object.entries(ways)) {
      // After a trial that failed nothing is as it should be.
      const failed = await measure(site, series, order).then(() => undefined, String);
      if (failed !== undefined) failures.push({ trial: way, problem: failed });
    }
    return { kind: "measured", trials, failures };
  });
}

function withRequests(site: Site, series: Series, order: Order): Promise<void> {
  return withEndings(async (later) => {
    await startOurs(order, site, later);
    await series("request", "first", async (name) => {
      const trial = await reserve(site, name);
      await release(site, name);
      await untilApart(site);
      return trial;
    });
    await reserve(site, "stays");
    await series("request", "next", async (name) => {
      const trial = await reserve(site, name);
      await release(site, name);
      return trial;
    });
    await release(site, "stays");
    await untilApart(site);
  });
}

/** Broker and agents, until the broker knows how both clusters are called in Liqo. */
async function startOurs({ programs, folder }: Order, { liqo, access }: Site, later: Later): Promise<void> {
  const measured = { programs, folder, cores: { broker: [], load: [] } };
  const certificates = await testCertificates();
  const broker = await startMeasuredBroker(measured, { certificates });
  later(broker.dispose);
  for (const clusterId of [PROVIDER, REQUESTER]) {
    const kubeconfig = access.get(clusterId) ?? "";
    const flags = liqo.agentFlags(clusterId);
    const agent = await startMeasuredAgent(measured, { clusterId, broker, certificates, kubeconfig, flags });
    later(agent.dispose);
  }
  for (const clusterId of [PROVIDER, REQUESTER]) {
    const look = async (): Promise<unknown> => {
      const { body } = await broker.admin().request("GET", PATH.advertisement(clusterId));
      return typeof body === "object" && body !== null && "liqo" in body ? body.liqo : undefined;
    };
    await until(`the broker knows the Liqo of ${clusterId}`, look, WITHIN_MS);
  }
}

async function reserve(site: Site, name: string): Promise<Pick<Trial, "instructionMs" | "readyMs">> {
  const { requester } = site;
  const beganAt = performance.now();
  await requester.client.create(RESOURCE_REQUESTS, {
    apiVersion: "rear.fluidos.eu/v1alpha1",
    kind: "ResourceRequest",
    metadata: { name, namespace: "default" },
    spec: { requestedCPU: AMOUNTS.cpu, requestedMemory: AMOUNTS.memory },
  });
  const reservation = await until(`${name} is reserved`, () => reservationOf(site, name), WITHIN_MS);
  const instruction = () => requester.find(RESERVATION_INSTRUCTIONS, reservation);
  await until(`${name} has its instruction`, instruction, WITHIN_MS);
  const instructionMs = performance.now() - beganAt;
  await untilReady(site, reservation);
  return { instructionMs, readyMs: performance.now() - beganAt };
}

async function release(site: Site, name: string): Promise<void> {
  const reservation = (await reservationOf(site, name)) ?? "";
  await site.requester.client.delete(RESOURCE_REQUESTS, { name, namespace: "default" });
  await untilNoNode(site, reservation);
}

async function reservationOf({ requester }: Site, name: string): Promise<string | undefined> {
  return (await requester.find(RESOURCE_REQUESTS, name))?.status?.reservationName;
}

/** The same with liqoctl, as docs/liqo.md has people do it; no agent runs meanwhile. */
async function byHand(site: Site, series: Series): Promise<void> {
  const { liqo } = site;
  const { liqoctl } = liqo.cluster(REQUESTER);
  const { liqoId } = liqo.cluster(PROVIDER);
  const remote = `--remote-kubeconfig=${liqo.kubeconfigs(REQUESTER)}/${PROVIDER}.kubeconfig`;
  const amounts = [`--cpu=${AMOUNTS.cpu}`, `--memory=${AMOUNTS.memory}`];
  const peer = ["peer", remote, "--networking-disabled", ...amounts];
  const timed = async (node: string, args: readonly string[]): Promise<Pick<Trial, "readyMs">> => {
    const beganAt = performance.now();
    const ready = untilReady(site, node).then(() => performance.now() - beganAt);
    const [readyMs] = await Promise.all([ready, liqoctl(args)]);
    return { readyMs };
  };
  const part = async (): Promise<void> => {
    await deleteSlices(site);
    await endIdentities(site);
    await liqoctl(["unpeer", remote, "--skip-confirm"]);
    await untilApart(site);
  };
  await series("liqoctl", "first", async () => {
    // The slice and the node that it makes have the name of the other cluster.
    const trial = await timed(liqoId, peer);
    await part();
    return trial;
  });
  await liqoctl(peer);
  await series("liqoctl", "next", async (name) => {
    const args = ["create", "resourceslice", name, `--remote-cluster-id=${liqoId}`, ...amounts];
    const trial = await timed(name, args);
    await deleteSlices(site, name);
    return trial;
  });
  await part();
}
