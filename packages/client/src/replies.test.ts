import { type AdoptionRequestDTO, LIMIT, type ReservationDTO } from "@resource-broker/contract";
import {
  advertisementBody,
  fakeClock,
  reservationBody,
  settle,
  testCertificates,
} from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { BrokerClient } from "./broker-client.ts";
import type { ResponseMetadata } from "./endpoints.ts";
import { clientOf } from "./testing/client-of.ts";
import {
  CURRENT,
  reply,
  type Script,
  type ScriptedBroker,
  scriptedBroker,
} from "./testing/scripted-broker.ts";

const certificates = await testCertificates();
const request = reservationBody({ cpu: 2, memoryGi: 4 });

const reservation = (id: string): ReservationDTO => ({
  id,
  requesterID: "rome",
  targetClusterID: "paris",
  requestedResources: { cpu: "2", memory: "4Gi" },
  status: { phase: "Reserved", message: "" },
  createdAt: "2026-07-01T10:00:00Z",
});

async function setup(script: Script): Promise<{ broker: ScriptedBroker; rome: BrokerClient }> {
  const broker = await scriptedBroker(certificates.broker, script);
  return { broker, rome: await connect(broker.url) };
}

async function connect(...brokerUrls: string[]): Promise<BrokerClient> {
  const { client } = await clientOf({ brokerUrls, credentials: certificates.cluster("rome") });
  onTestFinished(client.close);
  return client;
}

/** Without the call that finds out how old the broker is. */
function calls({ received }: ScriptedBroker): string[] {
  return received.map(({ method, url }) => `${method} ${url}`).filter((call) => call !== "GET /healthz");
}

/** Pages are never a broker's. */
function raw(status: number, type: string | undefined, body: string): Script {
  const from = type === "text/html" ? {} : CURRENT;
  return (response) => {
    response.writeHead(status, type === undefined ? from : { ...from, "Content-Type": type });
    response.end(body);
  };
}

describe("an answer that cannot be a broker's", () => {
  test.each<[string, Script, string]>([
    [
      "a web page",
      raw(200, "text/html", "<html><title>Sign in"),
      'text/html came instead of JSON: "<html><title>Sign in"',
    ],
    ["broken JSON", raw(200, "application/json", '{"a":'), "application/json came instead of JSON"],
    ["nothing", raw(200, undefined, ""), 'nothing came instead of JSON: ""'],
    ["something else in JSON", reply(200, { status: "success" }), "the answer does not match the schema: "],
    ["an endless one", raw(200, "application/json", " ".repeat(16 * 1024 * 1024 + 1)), "more than 16 MiB"],
    ["one that will be too long", reply(200, [], { "Content-Length": "16777217" }), "more than 16 MiB"],
    ["a redirection", raw(302, "text/html", "moved"), "302"],
  ])("%s is told with the address and what came", async (_, script, message) => {
    const { broker, rome } = await setup(script);
    const fault = await rome.listInstructions().catch((error: Error) => error);
    expect(fault).toMatchObject({ code: "unreachable", message: expect.stringContaining(message) });
    expect(fault).toMatchObject({ message: expect.stringMatching(new RegExp(`^${broker.url}: `)) });
  });

  test("one that breaks off is none", async () => {
    const { rome } = await setup((response) => {
      response.writeHead(200, { ...CURRENT, "Content-Length": "100" });
      response.write("[");
      response.socket?.destroy();
    });
    await expect(rome.listInstructions()).rejects.toMatchObject({ code: "unreachable" });
  });

  test("a proxy that knows nothing of releases does not make it look released", async () => {
    const { broker, rome } = await setup((response) => response.end("<html>welcome"));
    await expect(rome.release("rsv-1")).rejects.toMatchObject({ code: "unreachable" });
    expect(calls(broker)[0]).toBe("DELETE /api/v1/reservations/rsv-1");
  });

  test("a page of a proxy does not make a broker look old", async () => {
    const { broker, rome } = await setup(reply(200, []));
    await rome.listInstructions();
    const responses: ResponseMetadata[] = [];
    rome.onResponse((response) => responses.push(response));
    broker.script((response) => {
      response.writeHead(404, { "Content-Type": "text/plain" });
      response.end("not here");
    });
    await expect(rome.listInstructions()).rejects.toMatchObject({ code: "unreachable" });
    broker.script((response) => {
      response.writeHead(204, CURRENT);
      response.end();
    });
    await expect(rome.release("rsv-1")).resolves.toBeUndefined();
    expect(responses.map(({ isCurrent }) => isCurrent)).toEqual([true]);
  });

  test("the next address is asked instead", async () => {
    const bad = await scriptedBroker(certificates.broker, raw(502, "text/html", "<html>"));
    const good = await scriptedBroker(certificates.broker, reply(200, [reservation("rsv-1")]));
    const rome = await connect(bad.url, good.url);
    expect(await rome.listInstructions()).toEqual([reservation("rsv-1")]);
    expect([calls(bad).length, calls(good).length]).toEqual([1, 1]);
  });
});

describe("what the broker says", () => {
  test.each([
    [400, "invalid"],
    [403, "forbidden"],
    [409, "superseded"],
    [413, "too-large"],
    [422, "key-mismatch"],
    [500, "internal"],
  ])("%d %s is final: it is asked once", async (status, code) => {
    const { broker, rome } = await setup(reply(status, { error: "no", code }));
    await expect(rome.reserve(request, "k")).rejects.toMatchObject({ code, message: "no" });
    expect(calls(broker)).toHaveLength(1);
  });

  test.each([
    [429, "rate-limited"],
    [503, "overloaded"],
  ])("%d %s with Retry-After is waited for", async (status, code) => {
    const broker = await scriptedBroker(
      certificates.broker,
      reply(status, { error: "busy", code }, { "Retry-After": "3" }),
    );
    const clock = fakeClock();
    const { client } = await clientOf({
      brokerUrls: [broker.url],
      credentials: certificates.cluster("rome"),
      clock,
    });
    onTestFinished(client.close);
    // Until it has heard the answer, it waits for nothing.
    const received = new Promise<void>((resolve) => void client.onResponse(() => resolve()));
    const instructions = client.listInstructions();
    await received;
    broker.script(reply(200, []));
    await settle();
    await clock.advance(2999);
    expect(calls(broker)).toHaveLength(1);
    await clock.advance(1);
    expect(await instructions).toEqual([]);
  });

  test("an answer that does not come in time is given up, and asked for again", async () => {
    const broker = await scriptedBroker(certificates.broker, () => undefined);
    const clock = fakeClock();
    const credentials = certificates.cluster("rome");
    const { client } = await clientOf({ brokerUrls: [broker.url], credentials, clock });
    onTestFinished(client.close);
    const made = client.reserve(request, "k");
    await vi.waitFor(() => expect(calls(broker)).toHaveLength(1), { timeout: 20_000 });
    broker.script(reply(201, reservation("rsv-1")));
    await clock.advance(10_000);
    expect(await made).toMatchObject({ id: "rsv-1" });
    expect(broker.received.map(({ headers }) => headers["idempotency-key"]).filter(Boolean)).toEqual([
      "k",
      "k",
    ]);
  });

  test("lists are read page by page, to the end", async () => {
    const next = "/api/v1/reservations?role=requester&limit=500&after=rsv-1";
    const { broker, rome } = await setup((response, received) =>
      received.url === next
        ? reply(200, [reservation("rsv-2")])(response, received)
        : reply(200, [reservation("rsv-1")], { Link: `<${next}>; rel="next"` })(response, received),
    );
    expect((await rome.listReservations("requester")).map(({ id }) => id)).toEqual(["rsv-1", "rsv-2"]);
    expect(calls(broker)).toEqual(["GET /api/v1/reservations?role=requester&limit=500", `GET ${next}`]);
  });

  test("a list that never moves on is given up, not read for ever", async () => {
    const next = "/api/v1/reservations?role=requester&limit=500&after=rsv-1";
    const { rome } = await setup(reply(200, [reservation("rsv-1")], { Link: `<${next}>; rel="next"` }));
    await expect(rome.listReservations("requester")).rejects.toMatchObject({
      code: "unreachable",
      message: "the broker's list of reservations does not end",
    });
  });

  test("a page that leads elsewhere leads nowhere", async () => {
    const { rome } = await setup(
      reply(200, [reservation("rsv-1")], { Link: '<https://evil/x?y>; rel="next"' }),
    );
    expect(await rome.listReservations("provider")).toHaveLength(1);
  });

  test("the results of offers that take several requests are put together, in order", async () => {
    const { broker, rome } = await setup((response, received) => {
      const { reservations } = JSON.parse(received.body) as AdoptionRequestDTO;
      const results = reservations.map(({ id }) => ({ id, outcome: "waiting", message: "" }));
      reply(200, { results })(response, received);
    });
    const { status: _, ...offer } = reservation("rsv-1");
    const reservations = Array.from({ length: LIMIT.adoptionOffers + 1 }, (_, index) => ({
      ...offer,
      id: `rsv-${index}`,
      phase: "Active" as const,
      generation: 1,
    }));
    const { results } = await rome.adopt({ reservations });
    expect(results.map(({ id }) => id)).toEqual(reservations.map(({ id }) => id));
    expect(calls(broker)).toHaveLength(2);
  });

  test("its clock and ledger are passed on", async () => {
    const { rome } = await setup(
      reply(200, [], { Date: "Wed, 01 Jul 2026 10:00:00 GMT", "Ledger-ID": "led-7" }),
    );
    const responses: ResponseMetadata[] = [];
    rome.onResponse((response) => responses.push(response));
    await rome.listInstructions();
    expect(responses).toEqual([
      { ledgerId: "led-7", brokerTimeMs: Date.UTC(2026, 6, 1, 10), isCurrent: true },
    ]);
  });
});

describe("what is sent", () => {
  test("nothing that is not needed", async () => {
    const { broker, rome } = await setup(
      reply(200, { advertisement: advertisementBody("rome", { cpu: 1, memoryGi: 1 }) }),
    );
    await rome.publish(advertisementBody("rome", { cpu: 1, memoryGi: 1 }));
    const [sent] = broker.received;
    expect(sent?.rawHeaders.filter((_, index) => index % 2 === 0).toSorted()).toEqual([
      "Agent-Protocol",
      "Connection",
      "Content-Length",
      "Content-Type",
      "Host",
    ]);
  });

  test("the generation that is held, where it is known", async () => {
    const { broker, rome } = await setup(raw(204, undefined, ""));
    await rome.acknowledge("rsv-1", 3);
    await rome.acknowledge("rsv-1", undefined);
    const bodies = broker.received.filter(({ method }) => method === "POST").map(({ body }) => body);
    expect(bodies.map((body) => JSON.parse(body) as unknown)).toEqual([
      { state: "held", generation: 3 },
      { state: "held" },
    ]);
  });

  test("ids and keys cannot break out of the address", async () => {
    const { broker, rome } = await setup(raw(204, undefined, ""));
    await rome.release("../../healthz?x");
    await rome.releaseByKey("a&b=c#d");
    expect(calls(broker)).toEqual([
      "DELETE /api/v1/reservations/..%2F..%2Fhealthz%3Fx",
      "DELETE /api/v1/reservations?key=a%26b%3Dc%23d",
    ]);
  });

  test.each(["", "with space", "ü", "a\r\nX: y", "k".repeat(129)])(
    "no key that a header cannot carry: %j",
    async (key) => {
      const { broker, rome } = await setup(reply(201, reservation("rsv-1")));
      await expect(rome.reserve(request, key)).rejects.toMatchObject({ code: "invalid" });
      expect(broker.received).toEqual([]);
    },
  );
});
