import { toFault } from "@resource-broker/base";
import { LIMIT, type Statement, STATEMENT_TYPE } from "@resource-broker/contract";
import { generateIdentityKey, type IdentityKey, signJws } from "@resource-broker/runtime";
import { fakeClock, memoryStore, testCertificates } from "@resource-broker/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Listening, listenTo, type TestReply } from "../testing/call.ts";
import { identityHeader } from "../testing/joining.ts";
import { type RunningBroker, runBroker } from "../testing/running-broker.ts";
import { advertisementOf, requestOf } from "../testing/samples.ts";
import { Statements } from "./statements.ts";

const certificates = await testCertificates();
const cluster = (id: string) => {
  const credentials = certificates.cluster(id);
  const identity = generateIdentityKey();
  return { id, credentials, identity, headers: identityHeader(id, identity, credentials.key) };
};
const rome = cluster("rome");
const paris = cluster("paris");
const tokyo = cluster("tokyo");
const ops = certificates.admin("ops");
type Cluster = typeof rome;
const HOUR_MS = 3_600_000;

let time = fakeClock();
let broker: RunningBroker;
let streams: Listening[] = [];
beforeEach(async () => {
  time = fakeClock();
  broker = await runBroker({ store: memoryStore(), clock: time, certificates: certificates.broker });
  for (const { id, credentials, headers } of [rome, paris, tokyo])
    await broker.call(credentials, "POST /api/v1/advertisements", { body: advertisementOf(id), headers });
});
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close();
  await broker.stop();
});

function contentOf(from: Cluster, to: Cluster, more: object = {}) {
  return {
    version: 1,
    kind: "peering",
    from: from.id,
    to: to.id,
    fromLiqoID: from.id,
    toLiqoID: to.id,
    fromKey: from.identity.id,
    generation: time.wallMs(),
    issued: time.wallMs(),
    expires: time.wallMs() + 24 * HOUR_MS,
    capability: 1,
    certificate: "a certificate",
    keyProof: "AAAA",
    ...more,
  } satisfies Statement;
}
const signed = (content: unknown, by: IdentityKey): string => signJws(content, STATEMENT_TYPE, by);

function put(by: Cluster, to: Cluster, statement: string): Promise<TestReply> {
  const { credentials, headers } = by;
  return broker.call(credentials, `PUT /api/v1/peers/${to.id}/statement`, { body: { statement }, headers });
}
/** Returns what was stated. */
async function states(from: Cluster, to: Cluster, more: object = {}): Promise<string> {
  const jws = signed(contentOf(from, to, more), from.identity);
  expect(await put(from, to, jws)).toMatchObject({ status: 204 });
  return jws;
}
async function seenBy({ credentials, headers }: Cluster): Promise<unknown> {
  return (await broker.call(credentials, "GET /api/v1/peers", { headers })).json;
}
async function streamOf({ credentials, headers }: Cluster, isOlder = false): Promise<Listening> {
  const { "Agent-Protocol": _, ...older } = headers;
  const what = "GET /api/v1/instructions?watch=true";
  const stream = await listenTo({ port: broker.port, credentials }, what, {
    headers: isOlder ? older : headers,
  });
  streams.push(stream);
  await stream.receives(": alive");
  return stream;
}
async function reserve(requester: Cluster, provider: Cluster): Promise<string> {
  const { credentials, headers } = requester;
  const body = requestOf("1", "1Gi", { targetClusterID: provider.id });
  const reply = await broker.call(credentials, "POST /api/v1/reservations", { body, headers });
  expect(reply).toMatchObject({ status: 201, json: { targetClusterID: provider.id } });
  return (reply.json as { id: string }).id;
}
const refused = (status: number, text: string) => ({
  status,
  json: { error: expect.stringContaining(text) as string },
});

describe("a statement between two clusters that share a reservation", () => {
  beforeEach(() => reserve(rome, paris));

  test("reaches the other one at once, at the start of a stream, and in the list; and nobody else", async () => {
    const stream = await streamOf(paris);
    const jws = await states(rome, paris);
    const event = JSON.stringify({ from: "rome", statement: jws });
    await stream.receives(`event: statement\ndata: ${event}`);
    await (await streamOf(paris)).receives(event);
    expect(await seenBy(paris)).toEqual([{ from: "rome", statement: jws }]);
    expect(await seenBy(rome)).toEqual([]);
    expect(await seenBy(tokyo)).toEqual([]);
  });

  test("goes both ways", async () => {
    const jws = await states(paris, rome);
    expect(await seenBy(rome)).toEqual([{ from: "paris", statement: jws }]);
  });

  test("is not sent to agents that do not know the event", async () => {
    const older = await streamOf(paris, true);
    const newer = await streamOf(paris);
    await states(rome, paris);
    await newer.receives("event: statement");
    await reserve(rome, paris);
    await older.receives(/event: instruction[^]*event: instruction/u);
    expect(older.received()).not.toContain("statement");
  });

  test("replaces the one before it; an older one is refused, the same one again is none", async () => {
    const first = await states(rome, paris, { generation: 10 });
    const second = await states(rome, paris, { generation: 11 });
    expect(await seenBy(paris)).toEqual([{ from: "rome", statement: second }]);
    expect(await put(rome, paris, first)).toMatchObject(refused(409, "generation 11"));
    const sameNumber = signed(contentOf(rome, paris, { generation: 11, seen: 5 }), rome.identity);
    expect(await put(rome, paris, sameNumber)).toMatchObject(refused(409, "generation 11"));
    expect(await put(rome, paris, second)).toMatchObject({ status: 204 });
    expect(await seenBy(paris)).toEqual([{ from: "rome", statement: second }]);
  });

  test("is refused from another sender, or to another receiver, than it says", async () => {
    const jws = signed(contentOf(rome, paris), rome.identity);
    expect(await put(tokyo, paris, jws)).toMatchObject(refused(403, "from rome to paris, but tokyo"));
    expect(await put(rome, tokyo, jws)).toMatchObject(refused(403, "sends it to tokyo"));
  });

  test("is refused unless the bound key of the sender has signed it", async () => {
    const stranger = generateIdentityKey();
    const content = contentOf(rome, paris);
    const forged = [
      signed(content, stranger),
      signed({ ...content, fromKey: stranger.id }, stranger),
      signed(content, rome.identity).replace(/\.[^.]+$/u, `.${"A".repeat(86)}`),
    ];
    for (const jws of forged)
      expect(await put(rome, paris, jws)).toMatchObject(refused(403, "has not signed"));
    const otherType = signJws(content, "JWT", rome.identity);
    expect(await put(rome, paris, otherType)).toMatchObject(refused(400, "no JWS of type"));
    expect(await seenBy(paris)).toEqual([]);
  });

  test.each([
    ["a Secret", { secret: { apiVersion: "v1", kind: "Secret", data: { token: "c2VjcmV0" } } }],
    ["a ClusterRole", { objects: [{ kind: "ClusterRole", rules: [{ verbs: ["*"] }] }] }],
    ["an unknown field inside its share", { requester: { wants: true, kubeconfig: "apiVersion: v1" } }],
    ["another version", { version: 2 }],
    ["a nonce that is no base64", { provider: { state: "nonce", nonce: "{}" } }],
  ])("with %s in it is refused", async (_, more) => {
    const jws = signed({ ...contentOf(rome, paris), ...more }, rome.identity);
    expect(await put(rome, paris, jws)).toMatchObject(refused(400, "the statement:"));
  });

  test("may have exactly the largest size", async () => {
    /** Three bytes of a certificate are four characters. */
    const sized = (length: number): string => {
      const of = (size: number): string => {
        const more = { certificate: "a".repeat(size), requester: { wants: true, csr: "AAAA".repeat(1024) } };
        return signed(contentOf(rome, paris, more), rome.identity);
      };
      return of(1 + Math.ceil(((length - of(1).length) * 3) / 4));
    };
    const largest = sized(LIMIT.statementBytes - 3);
    expect(largest.length).toBeLessThanOrEqual(LIMIT.statementBytes);
    expect(largest.length).toBeGreaterThan(LIMIT.statementBytes - 4);
    expect(await put(rome, paris, largest)).toMatchObject({ status: 204 });
    const tooLarge = sized(LIMIT.statementBytes + 1);
    expect(tooLarge.length).toBeLessThan(LIMIT.statementBytes + 5);
    expect(await put(rome, paris, tooLarge)).toMatchObject({ status: 400 });
    expect(await put(rome, paris, `e30.${"A".repeat(2 * LIMIT.statementBytes)}.A`)).toMatchObject({
      status: 413,
    });
  });

  test("that has expired is refused, and one that expires is passed on no more", async () => {
    const late = signed(contentOf(rome, paris, { expires: time.wallMs() }), rome.identity);
    expect(await put(rome, paris, late)).toMatchObject(refused(400, "expired"));
    await states(rome, paris, { expires: time.wallMs() + 60_000 });
    await time.advance(60_000);
    expect(await seenBy(paris)).toEqual([]);
    expect(broker.api.statements()).toBe(0);
  });

  test("is not kept longer than statements live, whatever it says", async () => {
    await states(rome, paris);
    await time.advance(30 * 60_000);
    expect(await seenBy(paris)).toEqual([]);
    expect(broker.api.statements()).toBe(0);
  });

  test("is refused with the Liqo ID of another cluster, and passed on no more once it is another's", async () => {
    const claims = async ({ id, credentials, headers }: Cluster, clusterID: string) => {
      const body = { ...advertisementOf(id), liqo: { clusterID, version: "v1.2.0" } };
      const reply = await broker.call(credentials, "POST /api/v1/advertisements", { body, headers });
      expect(reply.status).toBeLessThan(300);
    };
    await claims(tokyo, "warm-tokyo");
    const stolen = signed(contentOf(rome, paris, { fromLiqoID: "warm-tokyo" }), rome.identity);
    expect(await put(rome, paris, stolen)).toMatchObject(refused(403, "belongs to tokyo"));
    await states(rome, paris, { fromLiqoID: "cool-rome" });
    expect(await seenBy(paris)).toHaveLength(1);
    await claims(tokyo, "cool-rome");
    expect(await seenBy(paris)).toEqual([]);
  });

  test("goes with its sender: after an eviction it is kept no more", async () => {
    await states(rome, paris);
    await states(paris, rome);
    await broker.call(ops, "POST /api/v1/members/rome/evict");
    expect(await seenBy(paris)).toEqual([]);
    expect(broker.api.statements()).toBe(0);
  });
});

describe("a statement between clusters that share no reservation", () => {
  test("is refused; an hour after the last one ended it is again", async () => {
    const jws = signed(contentOf(rome, paris), rome.identity);
    expect(await put(rome, paris, jws)).toMatchObject(refused(403, "share no reservation"));
    const id = await reserve(rome, paris);
    const { credentials, headers } = rome;
    await broker.call(credentials, `DELETE /api/v1/reservations/${id}`, { headers });
    await time.advance(HOUR_MS);
    await states(rome, paris);
    await time.advance(1);
    expect(await seenBy(paris)).toEqual([]);
    const late = signed(contentOf(rome, paris), rome.identity);
    expect(await put(rome, paris, late)).toMatchObject(refused(403, "share no reservation"));
  });

  test("that names a warm pair waits until the other one does so too, and then both are passed on", async () => {
    const stream = await streamOf(rome);
    const ours = await states(rome, paris, { warm: true });
    expect(await seenBy(paris)).toEqual([]);
    const cold = signed(contentOf(paris, rome), paris.identity);
    expect(await put(paris, rome, cold)).toMatchObject(refused(403, "share no reservation"));
    const toRome = await states(paris, rome, { warm: true });
    await stream.receives(toRome);
    expect(await seenBy(paris)).toEqual([{ from: "rome", statement: ours }]);
  });

  test("that was kept as warm by one side is passed on when a reservation joins the two", async () => {
    const stream = await streamOf(paris);
    const jws = await states(rome, paris, { warm: true });
    expect(stream.received()).not.toContain("statement");
    await reserve(rome, paris);
    expect(await stream.receives(jws)).toContain("event: statement");
  });

  test("to a cluster that nobody knows is not kept", async () => {
    const oslo = cluster("oslo");
    const jws = signed(contentOf(rome, oslo, { warm: true }), rome.identity);
    expect(await put(rome, oslo, jws)).toMatchObject({ status: 403 });
  });
});

describe("what the broker keeps of statements", () => {
  /** rome shares a reservation with each of these; `oslo` and `bonn` are known and share none. */
  const partners = Array.from({ length: LIMIT.statementsPerCluster + 1 }, (_, place) => `c${place}`);
  function kept(maxStatementBytes = Number.POSITIVE_INFINITY) {
    const members = new Map(["rome", "oslo", "bonn"].map((id) => [id, { key: "key-1" }]));
    const shared = partners.map((id) => [id, { requester: "rome", provider: id }] as const);
    const ledger = { members, accounts: new Map(), reservations: new Map(shared), liqoClaims: new Map() };
    const clock = { now: 0 };
    const statements = new Statements({
      engine: { ledger, now: () => clock.now },
      index: { idsOf: (id: string) => (id === "rome" ? partners : [id]) },
      limits: { maxStatementBytes },
    } as never);
    const state = (to: string, more: object = {}, jws = `${to} ${JSON.stringify(more)}`): string => {
      const key = { fromKey: "key-1", fromLiqoID: "cool-rome" };
      const content = { from: "rome", to, ...key, generation: 1, expires: 1000, ...more };
      try {
        return `delivered: ${statements.put({ content, jws }).length}`;
      } catch (error) {
        return toFault(error).code;
      }
    };
    return { statements, state, clock, members };
  }

  test("is at most so many of one cluster, which it may replace", () => {
    const { statements, state } = kept();
    const [last = "", ...others] = [...partners].reverse();
    for (const to of others) expect(state(to)).toBe("delivered: 1");
    expect(statements.size).toBe(LIMIT.statementsPerCluster);
    expect(state(last)).toBe("quota-exceeded");
    expect(state("c0", { generation: 2 })).toBe("delivered: 1");
    expect(statements.size).toBe(LIMIT.statementsPerCluster);
  });

  test("gives way to another one where nobody would get it", () => {
    const { statements, state } = kept();
    const [last = "", , ...others] = [...partners].reverse();
    for (const to of others) state(to);
    expect(state("oslo", { warm: true })).toBe("delivered: 0");
    expect(state(last)).toBe("delivered: 1");
    expect(statements.size).toBe(LIMIT.statementsPerCluster);
  });

  test("has at most so many bytes, without those that have expired, and can be replaced when it is full", () => {
    const { state, clock } = kept(100);
    const sized = (to: string, size: number, more: object = {}) => state(to, more, to.padEnd(size));
    expect(sized("c0", 50, { expires: 10 })).toBe("delivered: 1");
    expect(sized("c1", 50)).toBe("delivered: 1");
    expect(sized("c2", 1)).toBe("overloaded");
    expect(state("c1", { generation: 2 }, "c1 again".padEnd(50))).toBe("delivered: 1");
    expect(state("c1", { generation: 3 }, "c1 longer".padEnd(51))).toBe("overloaded");
    clock.now = 10;
    expect(sized("c2", 50)).toBe("delivered: 1");
    expect(sized("c3", 3)).toBe("overloaded");
  });

  test("is not passed on once its sender has another key", () => {
    const { statements, state, members } = kept();
    const granted = { kind: "granted", reservation: { requester: "rome", provider: "c0" } };
    const commit = { events: [granted] } as never;
    expect(state("c0")).toBe("delivered: 1");
    expect(statements.listFor("c0")).toHaveLength(1);
    expect(statements.update(commit)).toHaveLength(1);
    members.set("rome", { key: "key-2" });
    expect(statements.listFor("c0")).toEqual([]);
    expect(statements.update(commit)).toEqual([]);
    expect(state("c0", { generation: 2 })).toBe("delivered: 0");
  });
});

test("a cluster without a bound identity key is told what it lacks", async () => {
  const oslo = cluster("oslo");
  const jws = signed(contentOf(oslo, paris), oslo.identity);
  const what = "PUT /api/v1/peers/paris/statement";
  expect(await broker.call(oslo.credentials, what, { body: { statement: jws } })).toMatchObject(
    refused(403, "--identity-secret"),
  );
});
