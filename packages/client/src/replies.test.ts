import { type AdoptionRequestDTO, LIMIT } from "@resource-broker/contract";
import {
  advertisementBody,
  CURRENT,
  type FakeBroker,
  fakeClock,
  reply,
  reservationBody,
  reservationReply,
  type Script,
  startFakeBroker,
  testCertificates,
} from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { BrokerClient } from "./broker-client.ts";
import type { ResponseMetadata } from "./endpoints.ts";
import { policyCall } from "./calls.ts";
import { createDirectCalls } from "./direct-calls.ts";
import { clientOf } from "./testing/client-of.ts";

const certificates = await testCertificates();
const request = reservationBody({ cpu: 2, memoryGi: 4 });

const fakeBroker = (script: Script): Promise<FakeBroker> =>
  startFakeBroker({ credentials: certificates.broker, whenDone: onTestFinished, script });

async function setup(script: Script): Promise<{ broker: FakeBroker; rome: BrokerClient }> {
  const broker = await fakeBroker(script);
  return { broker, rome: await connect(broker.url) };
}

async function connect(...brokerUrls: string[]): Promise<BrokerClient> {
  const { client } = await clientOf({ brokerUrls, credentials: certificates.cluster("rome") });
  onTestFinished(client.close);
  return client;
}

/** Without the call that finds out how old the broker is. */
function calls({ received }: FakeBroker): string[] {
  return received.map(({ method, url }) => `${method} ${url}`).filter((call) => call !== "GET /healthz");
}

/** Pages are never a broker's. */
function raw(status: number, type: string | undefined, body: string): Script {
  const from = type === "text/html" ? {} : CURRENT;
  const headers = type === undefined ? from : { ...from, "Content-Type": type };
  return (response) => response.writeHead(status, headers).end(body);
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

  test("a page of a proxy does not make a broker look old", async () => {
    const { broker, rome } = await setup(reply(200, []));
    await rome.listInstructions();
    const responses: ResponseMetadata[] = [];
    rome.onResponse((response) => responses.push(response));
    broker.script((response) => response.writeHead(404, { "Content-Type": "text/plain" }).end("not here"));
    await expect(rome.listInstructions()).rejects.toMatchObject({ code: "unreachable" });
    // Nor does a page that knows nothing of releases make it look released.
    broker.script((response) => response.end("<html>welcome"));
    await expect(rome.release("rsv-1")).rejects.toMatchObject({ code: "unreachable" });
    broker.script((response) => response.writeHead(204, CURRENT).end());
    await expect(rome.release("rsv-1")).resolves.toBeUndefined();
    expect(responses.map(({ isCurrent }) => isCurrent)).toEqual([true]);
  });
});

describe("what the broker says", () => {
  test.each(["3", "soon"])("a Retry-After of %s is passed on where it is one", async (seconds) => {
    const busy = reply(503, { error: "busy", code: "overloaded" }, { "Retry-After": seconds });
    const { rome } = await setup(busy);
    // A stream is not asked for again by itself.
    const opening = rome.watch(new AbortController().signal)[Symbol.asyncIterator]().next();
    const details = seconds === "3" ? { retryAfterMs: 3000 } : {};
    await expect(opening).rejects.toMatchObject({ code: "overloaded", details });
  });

  test("an answer that does not come in time is given up, and asked for again", async () => {
    const broker = await fakeBroker(() => undefined);
    const clock = fakeClock();
    const credentials = certificates.cluster("rome");
    const { client } = await clientOf({ brokerUrls: [broker.url], credentials, clock });
    onTestFinished(client.close);
    const made = client.reserve(request, "k");
    await vi.waitFor(() => expect(calls(broker)).toHaveLength(1), { timeout: 20_000 });
    broker.script(reply(201, reservationReply("rsv-1")));
    await clock.advance(10_000);
    expect(await made).toMatchObject({ id: "rsv-1" });
    const keys = broker.received.map(({ headers }) => headers["idempotency-key"]).filter(Boolean);
    expect(keys).toEqual(["k", "k"]);
  });

  test("a page that leads elsewhere leads nowhere", async () => {
    const link = { Link: '<https://evil/x?y>; rel="next"' };
    const { rome } = await setup(reply(200, [reservationReply("rsv-1")], link));
    expect(await rome.listReservations("provider")).toHaveLength(1);
  });

  test("the results of offers that take several requests are put together, in order", async () => {
    const { broker, rome } = await setup((response, received) => {
      const { reservations } = JSON.parse(received.body) as AdoptionRequestDTO;
      const results = reservations.map(({ id }) => ({ id, outcome: "waiting", message: "" }));
      reply(200, { results })(response, received);
    });
    const { status: _, ...offer } = reservationReply("rsv-1");
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
    const headers = { Date: "Wed, 01 Jul 2026 10:00:00 GMT", "Ledger-ID": "led-7" };
    const { rome } = await setup(reply(200, [], headers));
    const responses: ResponseMetadata[] = [];
    rome.onResponse((response) => responses.push(response));
    await rome.listInstructions();
    const brokerTimeMs = Date.UTC(2026, 6, 1, 10);
    expect(responses).toEqual([{ ledgerId: "led-7", brokerTimeMs, isCurrent: true, canQueue: true }]);
  });
});

describe("what is sent", () => {
  test("nothing that is not needed", async () => {
    const advertisement = advertisementBody("rome", { cpu: 1, memoryGi: 1 });
    const { broker, rome } = await setup(reply(200, { advertisement }));
    await rome.publish(advertisement);
    const names = broker.received[0]?.rawHeaders.filter((_, index) => index % 2 === 0).toSorted();
    expect(names?.join(" ")).toBe("Agent-Protocol Connection Content-Length Content-Type Host");
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
      const { broker, rome } = await setup(reply(201, reservationReply("rsv-1")));
      await expect(rome.reserve(request, key)).rejects.toMatchObject({ code: "invalid" });
      expect(broker.received).toEqual([]);
    },
  );
});

test("a direct call waits for the answer as long as its caller says, and validates it", async () => {
  const broker = await fakeBroker(() => undefined);
  const [clock, url] = [fakeClock(), new URL(broker.url)];
  const options = { certificates: certificates.admin("ops"), timeoutMs: 30_000, maxBytes: 1024 };
  const direct = createDirectCalls(options, clock);
  onTestFinished(direct.close);
  let ended: unknown;
  const sent = direct.request(policyCall(), url).catch((error: unknown) => (ended = error));
  await vi.waitUntil(() => broker.received.length === 1);
  await clock.advance(29_999);
  expect(ended).toBeUndefined();
  await clock.advance(1);
  await sent;
  expect(ended).toMatchObject({ limit: 30_000 });
  broker.script(reply(200, { status: "strange" }));
  await expect(direct.request(policyCall(), url)).rejects.toThrow("does not match the schema");
});
