import type { ClusterAdvertisement } from "@resource-broker/contract/crd";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEnvironment, type TestBroker, type TestEnvironment } from "../testing/environment.ts";
import { personsReservation, publish } from "../testing/samples.ts";

let env: TestEnvironment;
let broker: TestBroker;
beforeAll(async () => {
  env = await openEnvironment();
  broker = await env.startBroker();
});
afterAll(() => env.stop());

const isAccepted =
  (sequence: number, instance = "a") =>
  ({ status }: ClusterAdvertisement) =>
    status?.accepted?.sequence === sequence && status.accepted.instance === instance;
const is = (type: string, wanted: "True" | "False") => (object: ClusterAdvertisement) =>
  object.status?.conditions?.find((condition) => condition.type === type)?.status === wanted;

test("an agent's ClusterAdvertisement is taken in, and the broker adds what only it knows", async () => {
  await publish(env.client, "paris", { allocated: { cpu: "4", memory: "16Gi" } });
  const { spec, status } = await env.advertisement("paris", isAccepted(1));
  expect(spec.resources).toMatchObject({
    reserved: { cpu: "0", memory: "0" },
    available: { cpu: "12", memory: "48Gi" },
  });
  const ledgerID = broker.engine.ledgerId;
  expect(status).toMatchObject({ phase: "Active", active: true, score: "75.00", ledgerID });
});

test("it becomes stale by silence alone, and fresh again by the next one", async () => {
  await env.time.advance(121_000);
  const stale = await env.advertisement("paris", is("Stale", "True"));
  expect(stale.status).toMatchObject({ phase: "Stale", active: false });
  await env.until(
    "an Event tells of it",
    async () => (await env.eventsOf("paris-adv")).some(({ reason }) => reason === "Stale") || undefined,
  );
  await publish(env.client, "paris", { sequence: 2 });
  expect((await env.advertisement("paris", isAccepted(2))).status?.phase).toBe("Active");
});

test("that of an agent that was replaced is turned away, and says so", async () => {
  await publish(env.client, "paris", { instance: "b" });
  await env.advertisement("paris", isAccepted(1, "b"));
  await publish(env.client, "paris", { instance: "a", sequence: 3 });
  const { status } = await env.advertisement("paris", (object) => object.status?.refused?.instance === "a");
  expect(status?.refused).toMatchObject({ code: "superseded", sequence: 3 });
  await publish(env.client, "paris", { instance: "b", sequence: 2 });
  const again = await env.advertisement("paris", isAccepted(2, "b"));
  expect(again.status?.refused).toBeUndefined();
});

test("that of one that lends more than it has left is told so", async () => {
  const requestedResources = { cpu: "10", memory: "1Gi" };
  await env.create(personsReservation("much", { targetClusterID: "paris", requestedResources }));
  await env.advertisement("paris", ({ spec }) => spec.resources.reserved?.cpu === "10");
  const allocated = { cpu: "9", memory: "1Gi" };
  await publish(env.client, "paris", { instance: "b", sequence: 3, allocated });
  const short = await env.advertisement("paris", is("Overcommitted", "True"));
  expect(short.spec.resources.available?.cpu).toBe("0");
  await env.remove("much");
  await env.advertisement("paris", is("Overcommitted", "False"));
});

test("fifty agents that publish cost two writes each time, and none when nothing happens", async () => {
  const clusters = Array.from({ length: 50 }, (_, index) => `c${index}`);
  const round = async (sequence: number): Promise<void> => {
    const allocated = { cpu: String(sequence), memory: "0" };
    await Promise.all(clusters.map((each) => publish(env.client, each, { sequence, allocated })));
    for (const each of clusters) await env.advertisement(each, isAccepted(sequence));
  };
  await round(1);
  await env.time.advance(1000);
  broker.writes.length = 0;
  await round(2);
  expect(broker.writes.length).toBeLessThanOrEqual(50 * 2);
  broker.writes.length = 0;
  await env.time.advance(61_000);
  expect(broker.writes).toEqual([]);
});
