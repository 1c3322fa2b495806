import {
  advertisementBody,
  fakeClock,
  reply,
  reservationBody,
  startFakeBroker,
  startFaultyProxy,
  startGoBroker,
  testCertificates,
} from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { BrokerClient } from "./broker-client.ts";
import type { ResponseMetadata } from "./endpoints.ts";
import { clientOf } from "./testing/client-of.ts";

const certificates = await testCertificates();
const request = reservationBody({ cpu: 2, memoryGi: 4 });

async function connect(id: string, ...brokerUrls: string[]): Promise<BrokerClient> {
  const { client } = await clientOf({ brokerUrls, credentials: certificates.cluster(id) });
  onTestFinished(client.close);
  return client;
}

/** An older broker at which paris has advertised. */
async function olderBroker() {
  const time = fakeClock();
  const broker = await startGoBroker({
    credentials: certificates.broker,
    clock: time,
    whenDone: onTestFinished,
  });
  const [rome, paris] = [await connect("rome", broker.url), await connect("paris", broker.url)];
  await paris.publish(advertisementBody("paris", { cpu: 16, memoryGi: 64 }));
  // A cluster counts only seconds after its first advertisement.
  await time.advance(5000);
  return { broker, rome, paris };
}

describe("with an older broker", () => {
  test("advertising, reserving and polling work as before", async () => {
    const { rome, paris } = await olderBroker();
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
    const responses: ResponseMetadata[] = [];
    paris.onResponse((response) => responses.push(response));
    await paris.listInstructions();
    expect(responses).toEqual([
      { ledgerId: undefined, brokerTimeMs: expect.any(Number), isCurrent: false, canQueue: false },
    ]);
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
    const { broker, rome } = await olderBroker();
    for (const _again of [1, 2]) await expect(call(rome)).rejects.toMatchObject({ code: "unsupported" });
    await expect(call(rome)).rejects.toThrow(broker.url);
    expect(broker.reservations()).toEqual([]);
  });

  test.each([
    ["gpu", { requestedResources: { ...request.requestedResources, gpu: "1" } }],
    ["targetClusterID", { ...request, targetClusterID: "paris" }],
  ])("a request with %s is not even sent: it would be ignored", async (field, requests) => {
    const { broker, rome } = await olderBroker();
    const message: unknown = expect.stringContaining(field);
    await expect(rome.reserve(requests, "k")).rejects.toMatchObject({ code: "unsupported", message });
    const ofRome = broker.received.filter(({ clusterId }) => clusterId === "rome");
    expect(ofRome.map(({ method, url }) => `${method} ${url}`)).toEqual(["GET /healthz"]);
  });

  test("an error as plain text is understood", async () => {
    const { rome } = await olderBroker();
    const foreign = rome.publish(advertisementBody("paris", { cpu: 1, memoryGi: 1 }));
    const message = "Cluster ID does not match certificate";
    await expect(foreign).rejects.toMatchObject({ code: "forbidden", message });
  });

  test("a reservation whose answer is lost is not asked for again: it would book twice", async () => {
    const { broker, paris } = await olderBroker();
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
    const json = { "Content-Type": "application/json" };
    const broker = await startFakeBroker({
      credentials: certificates.broker,
      whenDone: onTestFinished,
      script: (response) => response.writeHead(200, json).end("null"),
    });
    const rome = await connect("rome", broker.url);
    await rome.listInstructions();
    await expect(rome.release("rsv-1")).rejects.toMatchObject({ code: "unsupported" });
    broker.script(reply(200, []));
    await rome.listInstructions();
    await expect(rome.release("rsv-1")).resolves.toBeUndefined();
  });
});
