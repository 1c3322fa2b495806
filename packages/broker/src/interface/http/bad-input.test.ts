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
beforeAll(async () => {
  broker = await runBroker({ store: memoryStore(), clock: fakeClock(), certificates: certificates.broker });
  await broker.call(paris, "POST /api/v1/advertisements", { body: advertisementOf("paris") });
  await broker.call(rome, "POST /api/v1/reservations", { body: requestOf("1", "1Gi") });
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
  ["half a body", 400, "not JSON", body('{"requestedResources":{"cpu":"1"')],
  ["a byte order mark", 400, "not JSON", body(`\ufeff${JSON.stringify(requestOf())}`)],
  ["bytes that are no UTF-8", 400, "not UTF-8", body(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]))],
  ["a list", 400, /object/, body([])],
  ["33 levels of lists", 400, "nested deeper than 32", body("[".repeat(33) + "]".repeat(33))],
  ["100,000 levels of lists", 400, "nested deeper than 32", body("[".repeat(100_000))],
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

const REQUEST_ROWS: readonly Row[] = [
  ["no CPU at all", 400, "requestedResources.cpu", amounts("0")],
  ["more than can be counted", 400, "requestedResources.memory", amounts("1", "9E18Ei")],
  ["a later start", 422, "start now", asking({ start: "2030-01-01T00:00:00Z" })],
  ["a line break in a region", 400, "constraints", asking({ constraints: { regions: ["eu\nwest"] } })],
];

const HEADER_ROWS: readonly Row[] = [
  ["no Content-Type", 415, "no Content-Type", headers({ "Content-Type": "" })],
  [
    "a form",
    415,
    "application/x-www-form-urlencoded",
    headers({ "Content-Type": "application/x-www-form-urlencoded" }),
  ],
  ["JSON in Latin-1", 415, "iso-8859-1", headers({ "Content-Type": "application/json; charset=iso-8859-1" })],
  ["a compressed body", 415, "uncompressed", headers({ "Content-Encoding": "gzip" })],
  ["an empty key", 400, "Idempotency-Key", headers({ "Idempotency-Key": "" })],
  ["a key of 129 characters", 400, "Idempotency-Key", headers({ "Idempotency-Key": "k".repeat(129) })],
  ["two keys", 400, "one key", headers({ "Idempotency-Key": ["a", "b"] })],
];

describe("a bad request for a reservation is refused, says what to do and changes nothing", () => {
  const rows = [...JSON_ROWS, ...REQUEST_ROWS, ...HEADER_ROWS];
  test.each(rows)("%s", async (_, status, says, options) => {
    const reply = await harmless(() => broker.call(rome, RESERVE, options));
    expect(reply.status).toBe(status);
    expect(reply.json).toMatchObject({ error: expect.stringMatching(says), code: expect.any(String) });
    expect(reply.headers).toMatchObject({ "ledger-id": expect.any(String), "broker-protocol": "3" });
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
  ["GET /api/v1/reservations/", 404, "no such API call"],
  ["GET /api/v1/../v1/reservations", 404, "no such API call"],
  ["GET /api/v1/reservations/%zz", 400, "percent-encoding"],
  ["GET /api/v1/reservations/__proto__", 404, "no such reservation"],
  ["GET /api/v1/reservations/rsv-rome-nothing/renew", 405, "takes POST"],
  ["PUT /api/v1/reservations", 405, "takes POST, DELETE, GET"],
  ["HEAD /api/v1/policy", 405, ""],
  ["POST /healthz", 405, "takes GET, HEAD"],
  ["GET /api/v1/reservations?limit=0", 400, "limit"],
  ["GET /api/v1/reservations?limit=1&limit=2", 400, "limit is given 2 times"],
  ["GET /api/v1/reservations?role=owner", 400, "role must be"],
  [`GET /api/v1/reservations?after=${"x".repeat(257)}`, 400, "after"],
  ["GET /api/v1/instructions?watch=yes", 400, "watch must be"],
  ["GET /api/v1/decisions/dec-nothing", 404, "no such decision"],
  ["POST /api/v1/reservations?requester=paris", 403, "only an admin may ask", body(requestOf())],
  ["DELETE /api/v1/reservations", 400, "?key="],
  ["DELETE /api/v1/reservations?key=a%20b", 400, "key must be"],
  ["DELETE /api/v1/reservations/rsv-rome-nothing", 404, "no reservation"],
  ["POST /api/v1/reservations/rsv-rome-nothing/activate", 404, "no reservation"],
  ["POST /api/v1/reservations/rsv-rome-nothing/renew", 404, "no reservation", body({ duration: "1h" })],
  ["POST /api/v1/instructions/rsv-rome-nothing/ack", 404, "no reservation", body({ state: "held" })],
  ["POST /api/v1/instructions/rsv-rome-nothing/ack", 400, "state", body({ state: "maybe" })],
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

  const ADMIN_ROWS = rowsOf([
    ["POST /api/v1/clusters/nowhere/cordon", 404, "cluster nowhere is unknown"],
    ["POST /api/v1/clusters/paris/cordon", 400, "reason", body({ reason: 42 })],
    ["POST /api/v1/clusters/paris/cordon", 400, "not JSON", body("{")],
    ["GET /api/v1/audit?after=yesterday", 400, "sequence number"],
    ["GET /api/v1/advertisements?limit=-5", 400, "limit"],
    ["GET /api/v1/advertisements?sort=colour", 400, "sort must be one of"],
    ["GET /api/v1/advertisements?offset=-1", 400, "offset must be a whole number"],
    [`GET /api/v1/advertisements?q=${"x".repeat(300)}`, 400, "q is longer than"],
  ]);
  test.each(ADMIN_ROWS)("$target by an admin: $status $says", async ({ target, status, says, options }) => {
    const reply = await harmless(() => broker.call(ops, target, options));
    expect(reply).toMatchObject({ status, json: { error: expect.stringContaining(says) } });
  });
});

const ADVERTISEMENT_ROWS: readonly Row[] = [
  ["another cluster's ID", 403, "the certificate is of paris", body(advertisementOf("rome"))],
  ["no HTTPS", 400, "endpointURL", body(advertisementOf("paris", { endpointURL: "http://10.0.0.7" }))],
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
    ["no Host", "GET /api/v1/instructions HTTP/1.1\r\nConnection: close\r\n\r\n", "400"],
    ["headers of more than 16 KiB", `${REQUEST_LINE}X-Long: ${"x".repeat(17 * 1024)}\r\n\r\n`, "431"],
    ["a header with a line break in its name", `${REQUEST_LINE}X-A\r\nB: c\r\n\r\n`, "400"],
    [
      "a length and chunks at once",
      `${POST_LINE}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
      "400",
    ],
    ["a length below nothing", `${POST_LINE}Content-Length: -2\r\n\r\n{}`, "400"],
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
