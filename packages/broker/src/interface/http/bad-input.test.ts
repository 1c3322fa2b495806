import { recordsOf } from "@resource-broker/domain/testing";
import { fakeClock, memoryStore, testCertificates } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallOptions, TestReply } from "./testing/call.ts";
import { openRawConnection } from "./testing/raw-connection.ts";
import { type RunningBroker, runBroker } from "./testing/running-broker.ts";
import { advertisementOf, requestOf } from "./testing/samples.ts";

const certificates = await testCertificates();
const rome = certificates.cluster("rome");
const paris = certificates.cluster("paris");
const ops = certificates.admin("ops");

let broker: RunningBroker;
let ownReservation: string;
beforeAll(async () => {
  broker = await runBroker({ store: memoryStore(), clock: fakeClock(), certificates: certificates.broker });
  await broker.call(paris, "POST /api/v1/advertisements", { body: advertisementOf("paris") });
  const made = await broker.call(rome, "POST /api/v1/reservations", { body: requestOf("1", "1Gi") });
  ownReservation = (made.json as { id: string }).id;
});
afterAll(() => broker.stop());

/** Runs a call that must change nothing, and after which the broker must live. */
async function harmless(call: () => Promise<TestReply>): Promise<TestReply> {
  const before = [broker.engine.commitNumber, recordsOf(broker.engine.ledger)];
  const reply = await call();
  expect([broker.engine.commitNumber, recordsOf(broker.engine.ledger)]).toEqual(before);
  expect(await broker.call(rome, "GET /healthz")).toMatchObject({ status: 200 });
  return reply;
}

type Row = readonly [what: string, status: number, says: string | RegExp, options: CallOptions];

const RESERVE = "POST /api/v1/reservations";
const body = (value: unknown): CallOptions => ({ body: value });
const asking = (more: Readonly<Record<string, unknown>>): CallOptions => body({ ...requestOf(), ...more });
const amounts = (cpu: unknown, memory: unknown = "1Gi"): CallOptions =>
  body({ requestedResources: { cpu, memory } });
const headers = (named: Readonly<Record<string, string | readonly string[]>>): CallOptions => ({
  body: requestOf(),
  headers: named,
});

const JSON_ROWS: readonly Row[] = [
  ["no body", 400, "needs a JSON body", {}],
  ["an empty body", 400, "needs a JSON body", body("")],
  ["a body of spaces", 400, "not JSON", body("   ")],
  ["half a body", 400, "not JSON", body('{"requestedResources":{"cpu":"1"')],
  [
    "a body with a trailing comma",
    400,
    "not JSON",
    body('{"requestedResources":{"cpu":"1","memory":"1Gi"},}'),
  ],
  ["a body with a comment", 400, "not JSON", body('{/* all of it */"requestedResources":{}}')],
  ["a body with single quotes", 400, "not JSON", body("{'requestedResources':{}}")],
  ["two bodies", 400, "not JSON", body("{}{}")],
  ["NaN", 400, "not JSON", body('{"requestedResources":{"cpu":NaN,"memory":"1Gi"}}')],
  ["a byte order mark", 400, "not JSON", body(`\ufeff${JSON.stringify(requestOf())}`)],
  ["bytes that are no UTF-8", 400, "not UTF-8", body(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]))],
  ["UTF-16", 400, "not JSON", body(Buffer.from(JSON.stringify(requestOf()), "utf16le"))],
  ["a list", 400, /object/, body([])],
  ["a text", 400, /object/, body('"1 CPU"')],
  ["a number", 400, /object/, body("42")],
  ["null", 400, /object/, body("null")],
  ["an empty object", 400, "requestedResources", body({})],
  ["33 levels of lists", 400, "nested deeper than 32", body("[".repeat(33) + "]".repeat(33))],
  ["100,000 levels of lists", 400, "nested deeper than 32", body("[".repeat(100_000))],
  ["33 levels of objects", 400, "nested deeper than 32", body('{"a":'.repeat(33) + "1" + "}".repeat(33))],
  ["too many names", 400, "more than 50000", body(`{${'"":0,'.repeat(50_001)}"a":1}`)],
  ["too many items", 400, "more than 50000", body(`[${"0,".repeat(50_001)}0]`)],
  ["brackets in a text are no depth", 400, "requestedResources", body({ note: "[".repeat(100) })],
  [
    "an escaped quote does not end a text",
    400,
    "requestedResources",
    body({ note: `\\"${"[".repeat(100)}` }),
  ],
];

const QUANTITY_ROWS: readonly Row[] = [
  ["no CPU", 400, "requestedResources.cpu", body({ requestedResources: { memory: "1Gi" } })],
  ["no memory", 400, "requestedResources.memory", body({ requestedResources: { cpu: "1" } })],
  ["no CPU at all", 400, "requestedResources.cpu", amounts("0")],
  ["no memory at all", 400, "requestedResources.memory", amounts("1", "0")],
  ["less than nothing", 400, "requestedResources.cpu", amounts("-1")],
  ["an empty quantity", 400, "requestedResources.cpu", amounts("")],
  ["a quantity with a space", 400, "requestedResources.cpu", amounts(" 1")],
  ["a quantity in hexadecimal", 400, "requestedResources.cpu", amounts("0x10")],
  ["a quantity in full-width digits", 400, "requestedResources.cpu", amounts("１")],
  ["a quantity with a wrong unit", 400, "requestedResources.memory", amounts("1", "1gi")],
  ["a quantity with a word", 400, "requestedResources.memory", amounts("1", "8 gigabytes")],
  ["an exponent that would take years", 400, "requestedResources.cpu", amounts("1e1000000000")],
  ["more than can be counted", 400, "requestedResources.memory", amounts("1", "9E18Ei")],
  ["more than can be counted, nearly", 400, "requestedResources.memory", amounts("1", "9007199254740993")],
  ["a quantity of 10,000 digits", 400, "requestedResources.cpu", amounts("1".repeat(10_000))],
  ["a fraction as number", 400, "requestedResources.cpu", amounts(1.5)],
  ["a quantity that is true", 400, "requestedResources.cpu", amounts(true)],
  ["a quantity that is an object", 400, "requestedResources.cpu", amounts({})],
  ["half a GPU", 400, "gpu", body({ requestedResources: { cpu: "1", memory: "1Gi", gpu: "500m" } })],
  ["an extended resource without a domain", 400, "extended", asking({ extended: { gpu: "1" } })],
  [
    "an extended resource called __proto__",
    400,
    "extended",
    body('{"requestedResources":{"cpu":"1","memory":"1Gi"},"extended":{"__proto__":"1"}}'),
  ],
  [
    "an extended resource said twice, differently",
    400,
    "state it once",
    body({
      requestedResources: { cpu: "1", memory: "1Gi", extended: { "amd.com/gpu": "1" } },
      extended: { "amd.com/gpu": "2" },
    }),
  ],
  [
    "33 extended resources",
    400,
    "extended",
    asking({
      extended: Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`a.b/c${index}`, "1"])),
    }),
  ],
];

const REQUEST_ROWS: readonly Row[] = [
  ["a duration in words", 400, "duration", asking({ duration: "5 minutes" })],
  ["an empty duration", 400, "duration", asking({ duration: "" })],
  ["no time at all", 400, "duration", asking({ duration: "0s" })],
  ["a duration below nothing", 400, "duration", asking({ duration: "-1h" })],
  ["a duration without a unit", 400, "duration", asking({ duration: "90" })],
  ["a duration as number", 400, "duration", asking({ duration: 90 })],
  ["a duration of days", 400, "duration", asking({ duration: "1d" })],
  ["a duration longer than Go can say", 400, "duration", asking({ duration: "99999999999h" })],
  ["a later start", 422, "start now", asking({ start: "2030-01-01T00:00:00Z" })],
  ["a start that is no time", 400, "start", asking({ start: "tomorrow" })],
  ["30 February", 400, "start", asking({ start: "2026-02-30T00:00:00Z" })],
  ["a priority that is a word", 400, "priority", asking({ priority: "high" })],
  ["a priority beyond all others", 400, "priority", asking({ priority: 1e15 })],
  ["half a priority", 400, "priority", asking({ priority: 0.5 })],
  ["a target in upper case", 400, "targetClusterID", asking({ targetClusterID: "PARIS" })],
  ["a target of 64 characters", 400, "targetClusterID", asking({ targetClusterID: "p".repeat(64) })],
  ["a target that is a path", 400, "targetClusterID", asking({ targetClusterID: "../paris" })],
  ["an unknown tier", 400, "tier", asking({ tier: "gold" })],
  ["constraints that are a list", 400, "constraints", asking({ constraints: [] })],
  ["a label with a wrong name", 400, "constraints", asking({ constraints: { labels: { "a b": "c" } } })],
  ["a line break in a region", 400, "constraints", asking({ constraints: { regions: ["eu\nwest"] } })],
  ["a node that must fit nothing", 400, "perNode", asking({ perNode: {} })],
];

const HEADER_ROWS: readonly Row[] = [
  ["no Content-Type", 415, "no Content-Type", headers({ "Content-Type": "" })],
  [
    "a form",
    415,
    "application/x-www-form-urlencoded",
    headers({ "Content-Type": "application/x-www-form-urlencoded" }),
  ],
  ["plain text", 415, "text/plain", headers({ "Content-Type": "text/plain" })],
  ["nearly JSON", 415, "application/json5", headers({ "Content-Type": "application/json5" })],
  ["JSON in Latin-1", 415, "iso-8859-1", headers({ "Content-Type": "application/json; charset=iso-8859-1" })],
  ["a compressed body", 415, "uncompressed", headers({ "Content-Encoding": "gzip" })],
  ["a body compressed twice", 415, "uncompressed", headers({ "Content-Encoding": "gzip, gzip" })],
  ["an empty key", 400, "Idempotency-Key", headers({ "Idempotency-Key": "" })],
  ["a key of 129 characters", 400, "Idempotency-Key", headers({ "Idempotency-Key": "k".repeat(129) })],
  ["a key with a space", 400, "Idempotency-Key", headers({ "Idempotency-Key": "a b" })],
  ["a key with a letter that is no ASCII", 400, "Idempotency-Key", headers({ "Idempotency-Key": "clé" })],
  ["two keys", 400, "one key", headers({ "Idempotency-Key": ["a", "b"] })],
];

describe("a bad request for a reservation is refused, says what to do and changes nothing", () => {
  const rows = [...JSON_ROWS, ...QUANTITY_ROWS, ...REQUEST_ROWS, ...HEADER_ROWS];
  test.each(rows)("%s", async (_, status, says, options) => {
    const reply = await harmless(() => broker.call(rome, RESERVE, options));
    expect(reply.status).toBe(status);
    expect(reply.json).toMatchObject({ error: expect.stringMatching(says), code: expect.any(String) });
    expect(reply.headers).toMatchObject({ "ledger-id": expect.any(String), "broker-protocol": "2" });
  });

  test("there are enough of them", () => {
    expect(rows.length).toBeGreaterThanOrEqual(60);
  });
});

type Target = `${string} /${string}`;
interface CallRow {
  readonly target: Target;
  readonly status: number;
  readonly says: string;
  readonly options?: CallOptions;
}
type ShortRow = readonly [target: Target, status: number, says: string, options?: CallOptions];
const rowsOf = (rows: readonly ShortRow[]): CallRow[] =>
  rows.map(([target, status, says, options]) => ({ target, status, says, ...(options && { options }) }));

const CALL_ROWS = rowsOf([
  ["GET /", 404, "no such API call"],
  ["GET /api/v1", 404, "no such API call"],
  ["GET /api/v2/reservations", 404, "no such API call"],
  ["GET /api/v1/reservations/", 404, "no such API call"],
  ["GET //api/v1/reservations", 404, "no such API call"],
  ["GET /api/v1/../v1/reservations", 404, "no such API call"],
  ["GET /API/V1/RESERVATIONS", 404, "no such API call"],
  ["GET /api/v1/reservations/%2e%2e", 404, "no such reservation"],
  ["GET /api/v1/reservations/%zz", 400, "percent-encoding"],
  ["GET /api/v1/reservations/__proto__", 404, "no such reservation"],
  ["GET /api/v1/reservations/rsv-rome-nothing/renew", 405, "takes POST"],
  ["PUT /api/v1/reservations", 405, "takes POST, DELETE, GET"],
  ["PATCH /api/v1/advertisements", 405, "takes POST, GET"],
  ["OPTIONS /api/v1/quotes", 405, "takes POST"],
  ["HEAD /api/v1/policy", 405, ""],
  ["TRACE /api/v1/policy", 405, "takes GET"],
  ["POST /healthz", 405, "takes GET, HEAD"],
  ["GET /api/v1/reservations?limit=0", 400, "limit"],
  ["GET /api/v1/reservations?limit=501", 400, "limit"],
  ["GET /api/v1/reservations?limit=ten", 400, "limit"],
  ["GET /api/v1/reservations?limit=1e2", 400, "limit"],
  ["GET /api/v1/reservations?limit=1&limit=2", 400, "limit is given 2 times"],
  ["GET /api/v1/reservations?role=owner", 400, "role must be"],
  [`GET /api/v1/reservations?after=${"x".repeat(257)}`, 400, "after"],
  ["GET /api/v1/instructions?watch=yes", 400, "watch must be"],
  ["GET /api/v1/decisions/dec-nothing", 404, "no such decision"],
  ["GET /api/v1/decisions/%00", 404, "no such decision"],
  ["DELETE /api/v1/reservations", 400, "?key="],
  ["DELETE /api/v1/reservations?key=", 400, "key must be"],
  ["DELETE /api/v1/reservations?key=a%20b", 400, "key must be"],
  [`DELETE /api/v1/reservations?key=${"k".repeat(129)}`, 400, "key must be"],
  ["DELETE /api/v1/reservations/rsv-rome-nothing", 404, "no reservation"],
  ["POST /api/v1/reservations/rsv-rome-nothing/activate", 404, "no reservation"],
  ["POST /api/v1/reservations/rsv-rome-nothing/renew", 404, "no reservation", body({ duration: "1h" })],
  ["POST /api/v1/instructions/rsv-rome-nothing/ack", 404, "no reservation", body({ state: "held" })],
  ["POST /api/v1/instructions/rsv-rome-nothing/ack", 400, "state", body({ state: "maybe" })],
  [
    "POST /api/v1/instructions/rsv-rome-nothing/ack",
    400,
    "generation",
    body({ state: "held", generation: -1 }),
  ],
  [
    "POST /api/v1/instructions/rsv-rome-nothing/ack",
    400,
    "reason",
    body({ state: "refused", reason: "a\nb" }),
  ],
  ["POST /api/v1/adoptions", 400, "reservations", body({ reservations: [] })],
  ["POST /api/v1/adoptions", 400, "reservations[0]", body({ reservations: [{}] })],
  ["POST /api/v1/quotes", 400, "requestedResources.cpu", amounts("abc")],
]);

describe("a bad call is refused, says what to do and changes nothing", () => {
  test.each(CALL_ROWS)("$target: $status $says", async ({ target, status, says, options }) => {
    const reply = await harmless(() => broker.call(rome, target, options));
    expect(reply.status).toBe(status);
    expect(reply.text).toContain(says === "" ? "" : JSON.stringify(says).slice(1, -1));
    if (status === 405) expect(reply.headers.allow).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
  });

  test("a renewal without a duration", async () => {
    for (const wrong of [{}, { duration: "0s" }, { duration: "1 hour" }]) {
      const reply = await harmless(() =>
        broker.call(rome, `POST /api/v1/reservations/${ownReservation}/renew`, body(wrong)),
      );
      expect(reply).toMatchObject({ status: 400, json: { error: expect.stringContaining("duration") } });
    }
  });

  const ADMIN_ROWS = rowsOf([
    ["POST /api/v1/clusters/nowhere/cordon", 404, "cluster nowhere is unknown"],
    ["POST /api/v1/clusters/NOWHERE/uncordon", 404, "cluster NOWHERE is unknown"],
    ["POST /api/v1/clusters/paris/cordon", 400, "reason", body({ reason: 42 })],
    ["POST /api/v1/clusters/paris/cordon", 400, "not JSON", body("{")],
    ["GET /api/v1/audit?after=yesterday", 400, "sequence number"],
    ["GET /api/v1/audit?after=-1", 400, "sequence number"],
    ["GET /api/v1/advertisements?limit=-5", 400, "limit"],
  ]);
  test.each(ADMIN_ROWS)("$target by an admin: $status $says", async ({ target, status, says, options }) => {
    const reply = await harmless(() => broker.call(ops, target, options));
    expect(reply).toMatchObject({ status, json: { error: expect.stringContaining(says) } });
  });
});

const ADVERTISEMENT_ROWS: readonly Row[] = [
  ["another cluster's ID", 403, "the certificate is of paris", body(advertisementOf("rome"))],
  ["no cluster ID", 400, "clusterID", body(advertisementOf("paris", { clusterID: undefined }))],
  ["a cluster ID in upper case", 400, "clusterID", body(advertisementOf("PARIS"))],
  ["no resources", 400, "resources", body(advertisementOf("paris", { resources: undefined }))],
  [
    "resources below nothing",
    400,
    "resources.allocatable.cpu",
    body(withAllocatable({ cpu: "-1", memory: "1Gi" })),
  ],
  ["no time", 400, "timestamp", body(advertisementOf("paris", { timestamp: undefined }))],
  ["a time that is none", 400, "timestamp", body(advertisementOf("paris", { timestamp: "10 o'clock" }))],
  ["a time in seconds", 400, "timestamp", body(advertisementOf("paris", { timestamp: 1_767_614_400 }))],
  [
    "an endpoint without TLS",
    400,
    "endpointURL",
    body(advertisementOf("paris", { endpointURL: "http://10.0.0.7" })),
  ],
  [
    "a price below nothing",
    400,
    "cost",
    body(advertisementOf("paris", { cost: { cpuCost: "-1", memoryCost: "0", currency: "EUR" } })),
  ],
  [
    "a currency that is none",
    400,
    "cost",
    body(advertisementOf("paris", { cost: { cpuCost: "1", memoryCost: "0", currency: "euro" } })),
  ],
  [
    "17 node shapes",
    400,
    "nodeShapes",
    body(
      advertisementOf("paris", {
        nodeShapes: Array.from({ length: 17 }, () => ({ count: 1, cpu: "1", memory: "1Gi" })),
      }),
    ),
  ],
  [
    "a sequence below nothing",
    400,
    "sequence",
    body(advertisementOf("paris", { instance: "a", sequence: -1 })),
  ],
  ["usage of nothing", 400, /usage\[0\]/, body(advertisementOf("paris", { usage: [{}] }))],
  [
    "usage that adds up to more than can be counted",
    400,
    "together at most",
    body(
      advertisementOf("paris", {
        usage: Array.from({ length: 3 }, (_, index) => ({
          reservationID: `r${index}`,
          granted: { cpu: "1", memory: "8000Ti" },
          used: { cpu: "1", memory: "8000Ti" },
        })),
      }),
    ),
  ],
];

describe("a bad advertisement is refused, says what to do and changes nothing", () => {
  test.each(ADVERTISEMENT_ROWS)("%s", async (_, status, says, options) => {
    const reply = await harmless(() => broker.call(paris, "POST /api/v1/advertisements", options));
    expect(reply).toMatchObject({ status, json: { error: expect.stringMatching(says) } });
  });
});

const REQUEST_LINE = "GET /api/v1/instructions HTTP/1.1\r\nHost: broker\r\n";
const POST_LINE = "POST /api/v1/reservations HTTP/1.1\r\nHost: broker\r\nContent-Type: application/json\r\n";

describe("what is hardly HTTP is refused by the parser, and the connection closed", () => {
  test.each([
    ["noise", "\0\0\0\0\r\n\r\n", "400"],
    ["an unknown method", "BREW /api/v1/instructions HTTP/1.1\r\nHost: broker\r\n\r\n", "400"],
    ["an unknown version", "GET / HTTP/9.9\r\nHost: broker\r\n\r\n", "400"],
    ["no Host", "GET /api/v1/instructions HTTP/1.1\r\nConnection: close\r\n\r\n", "400"],
    ["headers of more than 16 KiB", `${REQUEST_LINE}X-Long: ${"x".repeat(17 * 1024)}\r\n\r\n`, "431"],
    [
      "an address of more than 16 KiB",
      `GET /${"x".repeat(17 * 1024)} HTTP/1.1\r\nHost: broker\r\n\r\n`,
      "431",
    ],
    ["a header with a line break in its name", `${REQUEST_LINE}X-A\r\nB: c\r\n\r\n`, "400"],
    [
      "a length and chunks at once",
      `${POST_LINE}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
      "400",
    ],
    ["two lengths", `${POST_LINE}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, "400"],
    ["a length below nothing", `${POST_LINE}Content-Length: -2\r\n\r\n{}`, "400"],
    ["a length that is a word", `${POST_LINE}Content-Length: two\r\n\r\n{}`, "400"],
    ["an unknown transfer encoding", `${POST_LINE}Transfer-Encoding: gzip\r\n\r\n{}`, "400"],
    ["a chunk without a size", `${POST_LINE}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`, "400"],
  ])("%s", async (_, text, status) => {
    await harmless(async () => {
      const line = await openRawConnection(broker.port, rome);
      line.send(text);
      const heard = await line.closed;
      expect(heard).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(heard).toMatch(/"code":"(malformed|too-large)"/);
      return { status: Number(status), headers: {}, text: heard, json: undefined };
    });
  });
});

function withAllocatable(allocatable: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  const { resources, ...rest } = advertisementOf("paris");
  return { ...rest, resources: { ...resources, allocatable } };
}
