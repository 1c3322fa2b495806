import { readFileSync } from "node:fs";
import {
  advertisementBody,
  type FakeClock,
  fakeClock,
  type GoBroker,
  reservationBody,
  startFaultyProxy,
  startGoBroker,
  testCertificates,
} from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { BrokerClient } from "./broker-client.ts";
import type { ResponseMetadata } from "./endpoints.ts";
import { clientOf } from "./testing/client-of.ts";
import { scriptedBroker } from "./testing/scripted-broker.ts";

const certificates = await testCertificates();
const request = reservationBody({ cpu: 2, memoryGi: 4 });

interface OlderBroker {
  readonly broker: GoBroker;
  readonly time: FakeClock;
  readonly as: (id: string) => Promise<BrokerClient>;
}

async function olderBroker(): Promise<OlderBroker> {
  const time = fakeClock();
  const broker = await startGoBroker({ credentials: certificates.broker, clock: time });
  onTestFinished(broker.close);
  return { broker, time, as: (id) => connect(id, broker.url) };
}

async function connect(id: string, ...brokerUrls: string[]): Promise<BrokerClient> {
  const { client } = await clientOf({ brokerUrls, credentials: certificates.cluster(id) });
  onTestFinished(client.close);
  return client;
}

/** A cluster counts only seconds after its first advertisement. */
const UNTIL_ACTIVE_MS = 5000;

async function reservedBy(): Promise<{
  broker: GoBroker;
  rome: BrokerClient;
  paris: BrokerClient;
}> {
  const { broker, time, as } = await olderBroker();
  const [rome, paris] = [await as("rome"), await as("paris")];
  await paris.publish(advertisementBody("paris", { cpu: 16, memoryGi: 64 }));
  await time.advance(UNTIL_ACTIVE_MS);
  return { broker, rome, paris };
}

describe("with an older broker", () => {
  test("advertising, reserving and polling work as before", async () => {
    const { rome, paris } = await reservedBy();
    expect(await paris.listInstructions()).toEqual([]);
    const made = await rome.reserve({ ...request, duration: "1h", priority: 3 }, "k");
    expect(made).toMatchObject({ targetClusterID: "paris", status: { phase: "Reserved" } });
    expect(await paris.listInstructions()).toEqual([made]);
    expect(await rome.getReservation(made.id)).toEqual(made);
    expect(await rome.getReservation("rsv-rome-unknown")).toBeUndefined();
    const { advertisement, providerInstructions } = await paris.publish(
      advertisementBody("paris", { cpu: 16, memoryGi: 64 }),
    );
    expect(advertisement.resources).toMatchObject({ reserved: { cpu: "4" }, available: { cpu: "12" } });
    expect(providerInstructions).toEqual([made]);
    await expect(rome.ping()).resolves.toBeUndefined();
  });

  test("answers tell that it is older, and of no ledger", async () => {
    const { paris } = await reservedBy();
    const responses: ResponseMetadata[] = [];
    paris.onResponse((response) => responses.push(response));
    await paris.listInstructions();
    expect(responses).toEqual([{ ledgerId: undefined, brokerTimeMs: expect.any(Number), isCurrent: false }]);
  });

  test.each<[string, (agent: BrokerClient) => Promise<unknown>]>([
    ["activate", (agent) => agent.activate("rsv-1")],
    ["renew", (agent) => agent.renew("rsv-1", "1h")],
    ["release", (agent) => agent.release("rsv-1")],
    ["releaseByKey", (agent) => agent.releaseByKey("k")],
    ["acknowledge", (agent) => agent.acknowledge("rsv-1", 1)],
    ["refuse", (agent) => agent.refuse("rsv-1", "full")],
    ["quote", (agent) => agent.quote(request)],
    ["getDecision", (agent) => agent.getDecision("dec-1")],
    ["listReservations", (agent) => agent.listReservations("requester")],
    ["watch", (agent) => agent.watch(new AbortController().signal)[Symbol.asyncIterator]().next()],
  ])("%s says clearly that it is not supported, also as the very first call", async (_, call) => {
    const { broker, as } = await olderBroker();
    const rome = await as("rome");
    for (const _again of [1, 2]) await expect(call(rome)).rejects.toMatchObject({ code: "unsupported" });
    await expect(call(rome)).rejects.toThrow(broker.url);
    expect(broker.reservations()).toEqual([]);
  });

  test.each([
    ["gpu", { requestedResources: { ...request.requestedResources, gpu: "1" } }],
    ["extended", { ...request, extended: { "amd.com/gpu": "1" } }],
    ["perNode", { ...request, perNode: { cpu: "2" } }],
    ["constraints", { ...request, constraints: { regions: ["eu"] } }],
    ["targetClusterID", { ...request, targetClusterID: "paris" }],
  ])("a request with %s is not even sent: it would be ignored", async (field, requests) => {
    const { broker, rome } = await reservedBy();
    const asked = rome.reserve(requests, "k");
    await expect(asked).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining(field),
    });
    expect(broker.received.filter(({ clusterId }) => clusterId === "rome").map(({ call }) => call)).toEqual([
      "GET /healthz",
    ]);
  });

  test.each([
    ["nothing fits", reservationBody({ cpu: 1000, memoryGi: 4 }), "no-capacity"],
    ["a bad quantity", { requestedResources: { cpu: "abc", memory: "1Gi" } }, "invalid"],
    ["a bad duration", { ...request, duration: "5 minutes" }, "invalid"],
  ])("its refusals are understood: %s", async (_, body, code) => {
    const { rome } = await reservedBy();
    await expect(rome.reserve(body, "k")).rejects.toMatchObject({ code });
  });

  test("an error as plain text is understood", async () => {
    const { rome } = await reservedBy();
    const foreign = rome.publish(advertisementBody("paris", { cpu: 1, memoryGi: 1 }));
    await expect(foreign).rejects.toMatchObject({
      code: "forbidden",
      message: "Cluster ID does not match certificate",
    });
  });

  test("a reservation whose answer is lost is not asked for again: it would book twice", async () => {
    const { broker, paris } = await reservedBy();
    const proxy = await startFaultyProxy(broker);
    onTestFinished(proxy.close);
    const rome = await connect("rome", `https://127.0.0.1:${proxy.port}`);
    await rome.listInstructions();
    const lost = proxy.loseNextReply();
    await expect(rome.reserve(request, "k")).rejects.toMatchObject({ code: "unreachable" });
    await lost;
    expect(await paris.listInstructions()).toHaveLength(1);
  });

  test("everything works once it is upgraded, without a restart", async () => {
    const credentials = certificates.broker;
    const broker = await scriptedBroker(credentials, (response) => {
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end("null");
    });
    const rome = await connect("rome", broker.url);
    await rome.listInstructions();
    await expect(rome.release("rsv-1")).rejects.toMatchObject({ code: "unsupported" });
    broker.script((response) => {
      response.writeHead(200, { "Broker-Protocol": "2", "Content-Type": "application/json" });
      response.end("[]");
    });
    await rome.listInstructions();
    await expect(rome.release("rsv-1")).resolves.toBeUndefined();
  });
});

describe("replies of a real Go broker, as written down", () => {
  interface Golden {
    readonly replies: readonly { name: string; schema: string; body: unknown; value: unknown }[];
    readonly errors: readonly {
      name: string;
      status: number;
      contentType: string;
      text: string;
      code: string;
    }[];
  }
  const file = new URL("../../contract/golden/wire/go-broker-replies.json", import.meta.url);
  const golden = JSON.parse(readFileSync(file, "utf8")) as Golden;
  const calls: Readonly<Record<string, (agent: BrokerClient) => Promise<unknown>>> = {
    ReservationDTO: (agent) => agent.reserve(request, "k"),
    ReservationListDTO: (agent) => agent.listInstructions(),
    AdvertisementReplyDTO: (agent) => agent.publish(advertisementBody("rome", { cpu: 1, memoryGi: 1 })),
  };

  test.each(golden.replies)("$name is read", async ({ schema, body, value }) => {
    const broker = await scriptedBroker(certificates.broker, (response) =>
      response.end(JSON.stringify(body)),
    );
    const rome = await connect("rome", broker.url);
    expect(await calls[schema]?.(rome)).toEqual(value);
  });

  test.each(golden.errors)("$name is understood", async ({ status, contentType, text, code }) => {
    const answering = await scriptedBroker(certificates.broker, (response) => {
      response.writeHead(status, { "Content-Type": contentType });
      response.end(text);
    });
    const rome = await connect("rome", answering.url);
    const isNoSuchCall = (status === 404 || status === 405) && contentType.startsWith("text/plain");
    const expected = isNoSuchCall ? "unsupported" : code;
    await expect(rome.listInstructions()).rejects.toMatchObject({ code: expected });
  });
});
