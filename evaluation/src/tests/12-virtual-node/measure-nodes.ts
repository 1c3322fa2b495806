import { PATH } from "@resource-broker/contract";
import {
  RESERVATION_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  testCertificates,
  until,
} from "@resource-broker/testkit";
import type { Context } from "../../evaluation-test.ts";
import { withCleanup } from "../../measure/async.ts";
import { startMeasuredAgent, startMeasuredBroker } from "../../measure/start-programs.ts";
import {
  AMOUNTS,
  type ClusterPair,
  deleteSlices,
  endIdentities,
  openClusterPair,
  PROVIDER,
  REQUESTER,
  untilApart,
  untilNoNode,
  untilReady,
  WITHIN_MS,
} from "./cluster-pair.ts";
import type { Failure, MeasureCommand, Pair, Trial, VirtualNodes, Way } from "./virtual-node.ts";

/** Makes one trial, and leaves everything as it was before it. */
type MakeTrial = (name: string) => Promise<Omit<Trial, "way" | "pair">>;
type Series = (way: Way, pair: Pair, make: MakeTrial) => Promise<void>;

/** Every trial of both ways, one after the other. */
export function measureNodes(order: MeasureCommand, onProgress: Context["progress"]): Promise<VirtualNodes> {
  return withCleanup(async (onCleanup) => {
    onProgress(0, "two control planes with Liqo start");
    const clusters = await openClusterPair(order.folder, onCleanup);
    const trials: Trial[] = [];
    const failures: Failure[] = [];
    const total = 2 * (order.trials.first + order.trials.next + 2);
    let made = 0;
    // The first one of each is not counted.
    const series: Series = async (way, pair, make) => {
      for (let number = 0; number <= order.trials[pair]; number++) {
        const name = `${pair}-${number}`;
        onProgress(0.1 + (0.9 * made++) / total, `${way}, ${name}`);
        const trial = { way, pair, ...(await make(name)) };
        if (number > 0) trials.push(trial);
      }
    };
    const ways = { request: withRequests, liqoctl: byHand } as const;
    for (const [way, measure] of Object.entries(ways)) {
      // After a trial that failed nothing is as it should be.
      const failed = await measure(clusters, series, order).then(() => undefined, String);
      if (failed !== undefined) failures.push({ trial: way, problem: failed });
    }
    return { kind: "measured", trials, failures };
  });
}

function withRequests(clusters: ClusterPair, series: Series, order: MeasureCommand): Promise<void> {
  return withCleanup(async (onCleanup) => {
    await startOurs({ ...order, onCleanup, cores: { broker: [], load: [] } }, clusters);
    await series("request", "first", async (name) => {
      const trial = await reserve(clusters, name);
      await release(clusters, name);
      await untilApart(clusters);
      return trial;
    });
    await reserve(clusters, "stays");
    await series("request", "next", async (name) => {
      const trial = await reserve(clusters, name);
      await release(clusters, name);
      return trial;
    });
    await release(clusters, "stays");
    await untilApart(clusters);
  });
}

/** Broker and agents, until the broker knows how both clusters are called in Liqo. */
async function startOurs(
  measured: Parameters<typeof startMeasuredBroker>[0],
  { liqo, access }: ClusterPair,
): Promise<void> {
  const certificates = await testCertificates();
  const broker = await startMeasuredBroker(measured, { certificates });
  for (const clusterId of [PROVIDER, REQUESTER]) {
    const kubeconfig = access.get(clusterId) ?? "";
    const flags = liqo.agentFlags(clusterId);
    await startMeasuredAgent(measured, { clusterId, broker, certificates, kubeconfig, flags });
  }
  for (const clusterId of [PROVIDER, REQUESTER]) {
    const look = async (): Promise<unknown> => {
      const { body } = await broker.admin().request("GET", PATH.advertisement(clusterId));
      return typeof body === "object" && body !== null && "liqo" in body ? body.liqo : undefined;
    };
    await until(`the broker knows the Liqo of ${clusterId}`, look, WITHIN_MS);
  }
}

async function reserve(
  clusters: ClusterPair,
  name: string,
): Promise<Pick<Trial, "instructionMs" | "readyMs">> {
  const { requester } = clusters;
  const beganAt = performance.now();
  await requester.client.create(RESOURCE_REQUESTS, {
    apiVersion: "rear.fluidos.eu/v1alpha1",
    kind: "ResourceRequest",
    metadata: { name, namespace: "default" },
    spec: { requestedCPU: AMOUNTS.cpu, requestedMemory: AMOUNTS.memory },
  });
  const reservation = await until(`${name} is reserved`, () => reservationOf(clusters, name), WITHIN_MS);
  const instruction = () => requester.find(RESERVATION_INSTRUCTIONS, reservation);
  await until(`${name} has its instruction`, instruction, WITHIN_MS);
  const instructionMs = performance.now() - beganAt;
  await untilReady(clusters, reservation);
  return { instructionMs, readyMs: performance.now() - beganAt };
}

async function release(clusters: ClusterPair, name: string): Promise<void> {
  const reservation = (await reservationOf(clusters, name)) ?? "";
  await clusters.requester.client.delete(RESOURCE_REQUESTS, { name, namespace: "default" });
  await untilNoNode(clusters, reservation);
}

async function reservationOf({ requester }: ClusterPair, name: string): Promise<string | undefined> {
  return (await requester.find(RESOURCE_REQUESTS, name))?.status?.reservationName;
}

/** The same with liqoctl, as docs/liqo.md has people do it; no agent runs meanwhile. */
async function byHand(clusters: ClusterPair, series: Series): Promise<void> {
  const { liqo } = clusters;
  const { liqoctl } = liqo.cluster(REQUESTER);
  const { liqoId } = liqo.cluster(PROVIDER);
  const remote = `--remote-kubeconfig=${liqo.kubeconfigs(REQUESTER)}/${PROVIDER}.kubeconfig`;
  const amounts = [`--cpu=${AMOUNTS.cpu}`, `--memory=${AMOUNTS.memory}`];
  const peer = ["peer", remote, "--networking-disabled", ...amounts];
  const timed = async (node: string, args: readonly string[]): Promise<Pick<Trial, "readyMs">> => {
    const beganAt = performance.now();
    const ready = untilReady(clusters, node).then(() => performance.now() - beganAt);
    const [readyMs] = await Promise.all([ready, liqoctl(args)]);
    return { readyMs };
  };
  const part = async (): Promise<void> => {
    await deleteSlices(clusters);
    await endIdentities(clusters);
    await liqoctl(["unpeer", remote, "--skip-confirm"]);
    await untilApart(clusters);
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
    await deleteSlices(clusters, name);
    return trial;
  });
  await part();
}
