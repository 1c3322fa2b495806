import { CONFIG_MAPS } from "@resource-broker/kube";
import { fakeClock } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { fakeCluster } from "../../testing/fake-cluster.ts";
import { peerPins } from "./peer-pins.ts";

const NAME = { name: "rear-peer-rome", namespace: "rear-agent" };
const NEW = { key: "new", liqoId: "cool-rome", generation: 7 };

function world() {
  const cluster = fakeCluster(fakeClock());
  return {
    cluster,
    pins: peerPins(cluster.client, "rear-agent"),
    data: () => cluster.find(CONFIG_MAPS, NAME)?.data,
  };
}

test("a fingerprint that a person has accepted is used up once its key is pinned, and by nothing else", async () => {
  const { cluster, pins, data } = world();
  cluster.put(CONFIG_MAPS, { metadata: NAME, data: { key: "old", accepted: "SHA256:new" } });
  await pins.change("rome", { csr: "request" });
  const judged = await pins.of("rome");
  expect(judged).toMatchObject({ key: "old", accepted: "SHA256:new", csr: "request" });
  await pins.pinKey("rome", judged, NEW);
  expect(data()).toEqual({ key: "new", liqoID: "cool-rome", generation: "7", csr: "request" });
});

test("a key is pinned beside the pin that it was judged by only", async () => {
  const { cluster, pins, data } = world();
  cluster.put(CONFIG_MAPS, { metadata: NAME, data: { key: "another" } });
  await expect(pins.pinKey("rome", undefined, NEW)).rejects.toMatchObject({ code: "conflict" });
  const judged = await pins.of("rome");
  cluster.edit(CONFIG_MAPS, NAME, (it) => ({ ...it, data: { key: "a person's" } }));
  await expect(pins.pinKey("rome", judged, NEW)).rejects.toMatchObject({ code: "conflict" });
  expect(data()).toEqual({ key: "a person's" });
});
