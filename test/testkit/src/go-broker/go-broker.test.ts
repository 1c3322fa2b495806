import { readFileSync } from "node:fs";
import { reservationListSchema, reservationSchema, validate } from "@resource-broker/contract";
import { expect, onTestFinished, test } from "vitest";
import { advertisementBody, reservationBody } from "../broker/bodies.ts";
import { type BrokerClient, type BrokerReply, brokerClient } from "../broker/broker-client.ts";
import { testCertificates } from "../certificates/test-certificates.ts";
import { type FakeClock, fakeClock } from "../time/fake-clock.ts";
import { type GoBroker, startGoBroker } from "./go-broker.ts";
import { ACTIVE_AFTER_MS } from "./go-ledger.ts";

const certificates = await testCertificates();
const body = reservationBody({ cpu: 2, memoryGi: 4 });

interface Running {
  readonly broker: GoBroker;
  readonly time: FakeClock;
  readonly as: (clusterId: string) => BrokerClient;
}

async function running({ isFirstRelease = false } = {}): Promise<Running> {
  const time = fakeClock();
  const broker = await startGoBroker({ credentials: certificates.broker, clock: time, isFirstRelease });
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
  await time.advance(ACTIVE_AFTER_MS);
  return { broker, time, as };
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

test("an empty list is null, and nobody streams", async () => {
  const { as } = await running();
  for (const path of ["/api/v1/instructions", "/api/v1/instructions?watch=true"]) {
    expect(await as("paris").request("GET", path)).toMatchObject({ status: 200, body: null });
  }
});

test("looks at no key and at nothing but cpu and memory", async () => {
  const { broker, time, as } = await running();
  const request = { requestedResources: { ...body.requestedResources, gpu: "8" }, targetClusterID: "tokyo" };
  for (const _ of [1, 2]) {
    const reply = await as("rome").request("POST", "/api/v1/reservations", { body: request, key: "k" });
    await time.advance(1);
    expect(reply.status).toBe(201);
    expect(validate(reservationSchema, reply.body)).toMatchObject({
      ok: true,
      value: { targetClusterID: "paris", requestedResources: { cpu: "2", memory: "4Gi" } },
    });
  }
  expect(new Set(broker.reservations().map(({ id }) => id)).size).toBe(2);
  const { body: instructions } = await as("paris").request("GET", "/api/v1/instructions");
  expect(validate(reservationListSchema, instructions)).toMatchObject({ ok: true, value: { length: 2 } });
});

const post = (client: BrokerClient, cpu: number, duration?: string): Promise<BrokerReply> =>
  client.request("POST", "/api/v1/reservations", {
    body: { ...reservationBody({ cpu, memoryGi: cpu }), ...(duration === undefined ? {} : { duration }) },
  });

async function counted(client: BrokerClient): Promise<unknown> {
  const { body: advertisement } = await client.request("GET", `/api/v1/advertisements/paris`);
  return (advertisement as { resources: unknown }).resources;
}

test("locks each reservation twice: seven of one CPU take fourteen", async () => {
  const { as, time } = await running();
  for (let count = 0; count < 7; count++) {
    expect((await post(as("rome"), 1)).status).toBe(201);
    await time.advance(1);
  }
  expect(await counted(as("paris"))).toMatchObject({ reserved: { cpu: "14" }, available: { cpu: "2" } });
  expect((await post(as("rome"), 3)).status).toBe(409);
});

test("releases after expiresAt, once, at its next look: half of what it locked is lost", async () => {
  const { as, time } = await running();
  const { body: made } = await post(as("rome"), 2, "90s");
  const { id } = made as { id: string };
  await time.advance(119_000);
  expect((await as("paris").request("GET", "/api/v1/instructions")).body).toMatchObject([{ id }]);
  await time.advance(1000);
  expect((await as("paris").request("GET", "/api/v1/instructions")).body).toBeNull();
  expect((await as("rome").request("GET", `/api/v1/reservations/${id}`)).body).toMatchObject({
    status: { phase: "Released", message: "Reservation expired and resources released" },
  });
  expect(await counted(as("paris"))).toMatchObject({ reserved: { cpu: "2" } });
});

test("keeps for ever what has no duration", async () => {
  const { as, time, broker } = await running();
  await post(as("rome"), 2);
  await time.advance(30 * 24 * 3_600_000);
  expect(broker.reservations()).toMatchObject([{ status: { phase: "Reserved" } }]);
});

test("lends nothing of a cluster in the first seconds after its first advertisement", async () => {
  const { as, time } = await running();
  await as("berlin").request("POST", "/api/v1/advertisements", {
    body: advertisementBody("berlin", { cpu: 100, memoryGi: 400 }),
  });
  expect((await post(as("rome"), 50)).status).toBe(409);
  await time.advance(ACTIVE_AFTER_MS);
  expect((await post(as("rome"), 50)).status).toBe(201);
});

test("its first releases cannot be asked about one reservation", async () => {
  const { as } = await running({ isFirstRelease: true });
  const { body: made } = await post(as("rome"), 2);
  const reply = await as("rome").request("GET", `/api/v1/reservations/${(made as { id: string }).id}`);
  expect(reply).toMatchObject({ status: 404, headers: { "content-type": "text/plain; charset=utf-8" } });
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
