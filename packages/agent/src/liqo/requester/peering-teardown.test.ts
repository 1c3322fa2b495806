import type { KubeClient } from "@resource-broker/kube";
import { fakeClock } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { fakeCluster } from "../../testing/fake-cluster.ts";
import { FOREIGN_CLUSTERS } from "../objects/core.ts";
import { clusterReads } from "./cluster-reads.ts";
import { peeringTeardown } from "./peering-teardown.ts";
import { aForeignCluster } from "./testing/samples.ts";

test("each look of Liqo needs a label that changes, and none is left", async () => {
  const rome = fakeCluster(fakeClock());
  rome.put(FOREIGN_CLUSTERS, aForeignCluster("Provider"));
  const before = rome.find(FOREIGN_CLUSTERS, { name: "calm-paris" })?.metadata.labels;
  const versions: (string | undefined)[] = [];
  const patch: KubeClient["patch"] = async (resource, change, options) => {
    const after = await rome.client.patch(resource, change, options);
    versions.push(rome.find(FOREIGN_CLUSTERS, { name: "calm-paris" })?.metadata.resourceVersion);
    return after;
  };
  let nowMs = 0;
  const clock = {
    monotonicMs: () => nowMs,
    after: (ms: number, act: () => void) => {
      nowMs += ms;
      act();
      return () => undefined;
    },
  };
  const { wait } = peeringTeardown({
    client: { ...rome.client, patch },
    reads: clusterReads(rome.client),
    clock,
  });
  const signal = new AbortController().signal;
  expect(await wait("calm-paris", { isDone: () => false, withinMs: 1000, signal })).toBe(false);
  expect(versions.length).toBeGreaterThan(2);
  expect(new Set(versions).size).toBe(versions.length);
  expect(rome.find(FOREIGN_CLUSTERS, { name: "calm-paris" })?.metadata.labels).toEqual(before);
});
