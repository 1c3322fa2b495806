import { readFileSync } from "node:fs";
import { fakeClock, memoryStore, testCertificates } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningBroker, runBroker } from "./testing/running-broker.ts";

/** One exchange as it was written down: what a Go agent sends and must be answered. */
interface Exchange {
  readonly what: string;
  readonly request: { readonly method: string; readonly path: `/${string}`; readonly body?: unknown };
  readonly reply: { readonly status: number; readonly body: unknown };
}

const FOLDER = new URL("../../../../contract/golden/wire/", import.meta.url);
const golden = (name: string): Exchange =>
  JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), "utf8")) as Exchange;

const certificates = await testCertificates();
const rome = certificates.cluster("rome");
const paris = certificates.cluster("paris");
/** The moment that the exchanges were written down at. */
const NOON = Date.parse("2026-07-01T10:00:01.000Z");

let broker: RunningBroker;
beforeAll(async () => {
  broker = await runBroker({
    store: memoryStore(),
    clock: fakeClock(NOON),
    certificates: certificates.broker,
  });
});
afterAll(() => broker.stop());

const decisions: string[] = [];

/** Ids are the broker's to choose: they are shown as the golden files write them. */
function withGoldenIds(text: string): string {
  return text
    .replaceAll(/rsv-rome-[a-z2-7]{16}/g, "rsv-rome-aaaaaaaaaaaaaaaa")
    .replaceAll(/dec-[0-9a-f]{16}/g, (id) => {
      if (!decisions.includes(id)) decisions.push(id);
      return `dec-${decisions.indexOf(id) + 1}`;
    });
}

async function expectExchange(name: string, credentials: typeof rome): Promise<void> {
  const { request, reply } = golden(name);
  const options = request.body === undefined ? {} : { body: request.body };
  const answer = await broker.call(credentials, `${request.method} ${request.path}`, options);
  expect(answer.status).toBe(reply.status);
  expect(withGoldenIds(answer.text)).toBe(JSON.stringify(reply.body));
}

/** In the order in which a Go agent's day goes by. Each is answered byte for byte. */
describe("a Go agent", () => {
  test("posts its advertisement", () => expectExchange("go-agent-advertises", paris));

  test("reads back what it posted, with the broker's own reserved", async () => {
    const { reply } = golden("go-agent-advertises");
    const answer = await broker.call(paris, "GET /api/v1/advertisements/paris");
    expect(JSON.stringify({ advertisement: answer.json })).toBe(JSON.stringify(reply.body));
  });

  test("reserves without a key", () => expectExchange("go-agent-reserves", rome));

  test("finds the reservation in its instructions as Reserved, though it is Active", async () => {
    const [made] = broker.engine.ledger.reservations.keys();
    await broker.call(rome, `POST /api/v1/reservations/${made}/activate`);
    await expectExchange("go-agent-polls-instructions", paris);
    const newer = await broker.call(paris, "GET /api/v1/instructions", {
      headers: { "Agent-Protocol": "2" },
    });
    expect(newer.json).toMatchObject([{ status: { phase: "Active" } }]);
  });

  test("of the first release reads lists as an object", async () => {
    await expectExchange("first-go-agent-polls-as-provider", paris);
    await expectExchange("first-go-agent-polls-as-requester", rome);
    const nothing = await broker.call(rome, "GET /api/v1/reservations?clusterID=rome&role=provider");
    expect(nothing.text).toBe('{"reservations":[]}');
    const others = await broker.call(paris, "GET /api/v1/reservations?clusterID=rome&role=requester");
    expect(others.text).toBe('{"reservations":[]}');
  });

  test.each([
    ["whoever speaks the newer protocol", "?clusterID=paris&role=provider", { "Agent-Protocol": "2" }],
    ["whoever does not name itself in the query", "?role=provider", {}],
  ])("of the first release alone is answered so: %s reads an array", async (_, query, headers) => {
    const answer = await broker.call(paris, `GET /api/v1/reservations${query}`, { headers });
    expect(answer.json).toMatchObject([{ status: { phase: "Active" } }]);
  });

  test("gets the same with the reply to its advertisement", async () => {
    const { request } = golden("go-agent-advertises");
    const answer = await broker.call(paris, "POST /api/v1/advertisements", { body: request.body });
    const { reply } = golden("go-agent-polls-instructions");
    expect(withGoldenIds(JSON.stringify(answer.json))).toContain(
      `"providerInstructions":${JSON.stringify(reply.body)}`,
    );
  });

  test("is refused with reasons when nothing fits", () => expectExchange("go-agent-is-refused", rome));

  test("is told what is wrong with what it writes", () => expectExchange("go-agent-writes-nonsense", rome));
});
