import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { advertisementBody, reservationBody } from "../broker/bodies.ts";
import { type BrokerClient, type BrokerReply, brokerClient } from "../broker/broker-client.ts";
import { testCertificates } from "../certificates/test-certificates.ts";
import { type FakeClock, fakeClock } from "../time/fake-clock.ts";
import { startGoBroker } from "./go-broker.ts";
import { ACTIVE_AFTER_MS } from "./go-ledger.ts";

const certificates = await testCertificates();
const body = reservationBody({ cpu: 2, memoryGi: 4 });

interface Running {
  readonly time: FakeClock;
  readonly as: (clusterId: string) => BrokerClient;
}

async function running(): Promise<Running> {
  const time = fakeClock();
  const credentials = certificates.broker;
  const broker = await startGoBroker({ credentials, clock: time, whenDone: onTestFinished });
  const as = (clusterId: string): BrokerClient => {
    const credentials = certificates.cluster(clusterId);
    const client = brokerClient({ clusterId, credentials, port: broker.port });
    onTestFinished(client.close);
    return client;
  };
  await as("paris").request("POST", "/api/v1/advertisements", {
    body: advertisementBody("paris", { cpu: 16, memoryGi: 64 }),
  });
  await time.advance(ACTIVE_AFTER_MS);
  return { time, as };
}

interface Written {
  readonly errors: readonly { name: string; status: number; contentType: string }[];
}
const file = new URL("../../../../packages/contract/golden/wire/go-broker-replies.json", import.meta.url);
const written = JSON.parse(readFileSync(file, "utf8")) as Written;

const CAUSES: Readonly<Record<string, (rome: BrokerClient) => Promise<BrokerReply>>> = {
  "an advertisement with another cluster's ID": (rome) =>
    rome.request("POST", "/api/v1/advertisements", {
      body: advertisementBody("paris", { cpu: 1, memoryGi: 1 }),
    }),
  "nothing fits": (rome) =>
    rome.request("POST", "/api/v1/reservations", { body: reservationBody({ cpu: 1000, memoryGi: 1 }) }),
  "a bad quantity": (rome) =>
    rome.request("POST", "/api/v1/reservations", {
      body: { requestedResources: { cpu: "abc", memory: "1" } },
    }),
  "two requests in one millisecond": async (rome) => {
    await rome.request("POST", "/api/v1/reservations", { body });
    return rome.request("POST", "/api/v1/reservations", { body });
  },
  "a list of reservations": (rome) => rome.request("GET", "/api/v1/reservations?role=requester"),
  "a route it does not have": (rome) => rome.request("POST", "/api/v1/reservations/x/activate"),
  "a method it does not have": (rome) => rome.request("DELETE", "/api/v1/reservations?key=k"),
};

test.each(written.errors)(
  "answers as a Go broker was seen to: $name",
  async ({ name, status, contentType }) => {
    const { as } = await running();
    const reply = await CAUSES[name]?.(as("rome"));
    expect(reply).toMatchObject({ status, headers: { "content-type": contentType } });
  },
);

test("locks each reservation twice, and releases it once, at its next look after expiresAt", async () => {
  const { as, time } = await running();
  const counted = async (): Promise<unknown> =>
    (await as("paris").request("GET", "/api/v1/advertisements/paris")).body;
  const held = async (): Promise<unknown> => (await as("paris").request("GET", "/api/v1/instructions")).body;
  const made = await as("rome").request("POST", "/api/v1/reservations", {
    body: { ...body, duration: "90s" },
  });
  const { id } = made.body as { id: string };
  expect(await counted()).toMatchObject({ resources: { reserved: { cpu: "4" }, available: { cpu: "12" } } });
  await time.advance(119_000);
  expect(await held()).toMatchObject([{ id }]);
  await time.advance(1000);
  expect(await held()).toBeNull();
  expect((await as("rome").request("GET", `/api/v1/reservations/${id}`)).body).toMatchObject({
    status: { phase: "Released", message: "Reservation expired and resources released" },
  });
  expect(await counted()).toMatchObject({ resources: { reserved: { cpu: "2" } } });
});
