import { readFileSync } from "node:fs";
import { reservationListSchema, reservationSchema, validate } from "@resource-broker/contract";
import { expect, onTestFinished, test } from "vitest";
import { advertisementBody, reservationBody } from "../broker/bodies.ts";
import { type BrokerClient, type BrokerReply, brokerClient } from "../broker/broker-client.ts";
import { testCertificates } from "../certificates/test-certificates.ts";
import { fakeTime } from "../time/fake-time.ts";
import { type GoBroker, startGoBroker } from "./go-broker.ts";

const certificates = await testCertificates();
const body = reservationBody({ cpu: 2, memoryGi: 4 });

async function running(): Promise<{ broker: GoBroker; as: (clusterId: string) => BrokerClient }> {
  const broker = await startGoBroker({ credentials: certificates.broker, machine: fakeTime() });
  onTestFinished(broker.close);
  const as = (clusterId: string): BrokerClient => {
    const credentials = certificates.cluster(clusterId);
    const client = brokerClient({ clusterId, credentials, port: broker.port });
    onTestFinished(client.close);
    return client;
  };
  await as("paris").request("POST", "/api/v1/advertisements", {
    body: advertisementBody("paris", { cpu: 16, memoryGi: 64 }),
  });
  return { broker, as };
}

interface Written {
  readonly errors: readonly { name: string; status: number; contentType: string }[];
}
const file = new URL("../../../contract/golden/wire/go-broker-replies.json", import.meta.url);
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

test("an empty list is null, and nobody streams", async () => {
  const { as } = await running();
  for (const path of ["/api/v1/instructions", "/api/v1/instructions?watch=true"]) {
    expect(await as("paris").request("GET", path)).toMatchObject({ status: 200, body: null });
  }
});

test("looks at no key and at nothing but cpu and memory", async () => {
  const { broker, as } = await running();
  const wishes = { requestedResources: { ...body.requestedResources, gpu: "8" }, targetClusterID: "tokyo" };
  for (const _ of [1, 2]) {
    const reply = await as("rome").request("POST", "/api/v1/reservations", { body: wishes, key: "k" });
    expect(reply.status).toBe(201);
    expect(validate(reservationSchema, reply.body)).toMatchObject({
      ok: true,
      value: { targetClusterID: "paris", requestedResources: { cpu: "2", memory: "4Gi" } },
    });
  }
  expect(new Set(broker.reservations.map(({ id }) => id)).size).toBe(2);
  const { body: instructions } = await as("paris").request("GET", "/api/v1/instructions");
  expect(validate(reservationListSchema, instructions)).toMatchObject({ ok: true, value: { length: 2 } });
});

test("lends no more than there is, and keeps what it lent", async () => {
  const { as } = await running();
  const most = { body: reservationBody({ cpu: 16, memoryGi: 4 }) };
  expect((await as("rome").request("POST", "/api/v1/reservations", most)).status).toBe(201);
  expect((await as("rome").request("POST", "/api/v1/reservations", { body })).status).toBe(409);
  expect((await as("paris").request("GET", "/api/v1/advertisements/paris")).body).toMatchObject({
    resources: { reserved: { cpu: "16" }, available: { cpu: "0" } },
  });
});

test("has none of the newer headers, and remembers what it was asked", async () => {
  const { broker, as } = await running();
  const { headers } = await as("rome").request("GET", "/healthz");
  expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(["broker-protocol"]));
  expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(["ledger-id"]));
  expect(broker.received.at(-1)).toEqual({ clusterId: "rome", call: "GET /healthz", body: null });
});

test("lets nobody in without a certificate of its authority", async () => {
  const { broker } = await running();
  const { key, cert } = certificates.selfSigned({});
  const stranger = brokerClient({
    clusterId: "x",
    credentials: { key, cert, ca: certificates.ca.cert },
    port: broker.port,
  });
  onTestFinished(stranger.close);
  await expect(stranger.request("GET", "/healthz")).rejects.toBeInstanceOf(Error);
});
