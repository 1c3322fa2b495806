import { createPrivateKey, createPublicKey } from "node:crypto";
import { Socket } from "node:net";
import { generateIdentityKey } from "@resource-broker/runtime";
import { fakeClock, memoryStore, testCertificates } from "@resource-broker/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createIdentityCheck } from "./agent-identity.ts";
import type { RouteContext } from "./routes/context.ts";
import { allRoutes } from "./routes/routes.ts";
import { type CallOptions, listenTo, type TestReply } from "./testing/call.ts";
import { identityHeader, newToken } from "./testing/joining.ts";
import { openRawConnection } from "./testing/raw-connection.ts";
import { type RunningBroker, runBroker } from "./testing/running-broker.ts";
import { advertisementOf } from "./testing/samples.ts";

const certificates = await testCertificates();
const rome = certificates.cluster("rome");
const paris = certificates.cluster("paris");
const ops = certificates.admin("ops");
const identity = generateIdentityKey();
const header = identityHeader("rome", identity, rome.key);

let broker: RunningBroker;
beforeEach(async () => {
  broker = await runBroker({ store: memoryStore(), clock: fakeClock(), certificates: certificates.broker });
});
afterEach(() => broker.stop());

const asks = (who: typeof rome, headers: CallOptions["headers"] = {}): Promise<TestReply> =>
  broker.call(who, "GET /api/v1/instructions", { headers });
const evict = (name: string, body: object = {}): Promise<TestReply> =>
  broker.call(ops, `POST /api/v1/members/${name}/evict`, { body });
const wrongInstance = (text: string) => ({
  status: 403,
  json: { code: "wrong-instance", error: expect.stringContaining(text) as string },
});

describe("a cluster without an identity key", () => {
  test("works without the header, as agents did before there was one", async () => {
    expect(await asks(rome)).toMatchObject({ status: 200 });
    expect(broker.engine.ledger.members.size).toBe(0);
  });

  test("has the first key that it shows bound, once, and durably", async () => {
    expect(await asks(rome, header)).toMatchObject({ status: 200 });
    const { commitNumber } = broker.engine;
    expect(await asks(rome, header)).toMatchObject({ status: 200 });
    expect(broker.engine.commitNumber).toBe(commitNumber);
    expect(broker.engine.ledger.members.get("rome")?.key).toBe(identity.id);
  });

  test.each([
    ["is made for the key of another certificate", identityHeader("rome", identity, paris.key)],
    ["is made for another cluster", identityHeader("paris", identity, rome.key)],
    ["is no key and signature at all", { "Agent-Identity": "AAAA.AAAA" }],
  ])("binds nothing when the header %s", async (_, headers) => {
    expect(await asks(rome, headers)).toMatchObject(wrongInstance("does not vouch"));
    expect(broker.engine.ledger.members.size).toBe(0);
  });
});

describe("a cluster whose identity key is bound", () => {
  beforeEach(async () => void (await asks(rome, header)));

  test("is not believed by a certificate alone, on a new connection or the same one", async () => {
    expect(await asks(rome)).toMatchObject(wrongInstance("was not sent"));
    expect(await asks({ ...rome })).toMatchObject(wrongInstance("was not sent"));
    expect(await asks(rome, header)).toMatchObject({ status: 200 });
  });

  test("is not another agent with a certificate of the same name", async () => {
    const twin = certificates.cluster("rome");
    const itsHeader = identityHeader("rome", generateIdentityKey(), twin.key);
    expect(await asks(twin, itsHeader)).toMatchObject(wrongInstance("brokerctl invite rome --replace"));
    // The header of the first one vouches for the first one's certificate only.
    expect(await asks(twin, header)).toMatchObject(wrongInstance("does not vouch"));
  });

  test("may get a new certificate: the same identity key vouches for it", async () => {
    const renewed = certificates.cluster("rome");
    expect(await asks(renewed, identityHeader("rome", identity, renewed.key))).toMatchObject({ status: 200 });
  });

  test("a header that was right on one connection is not believed on that of another cluster", async () => {
    expect(await asks(paris, header)).toMatchObject(wrongInstance("does not vouch"));
  });

  const needsIt = allRoutes({} as RouteContext).filter(({ access }) => access === "cluster");
  test.each(needsIt)("is not believed by a certificate alone at $method $path", async ({ method, path }) => {
    const name = path.replace(/\{[^}]+\}/u, "paris") as `/${string}`;
    expect(await broker.call(rome, `${method} ${name}`, { body: {} })).toMatchObject(
      wrongInstance("was not sent"),
    );
  });

  test("still gets the pages that need no certificate", async () => {
    expect(await broker.call(rome, "GET /healthz")).toMatchObject({ status: 200 });
  });
});

describe("a stream that another instance opened before the key is bound", () => {
  const twin = certificates.cluster("rome");
  const admin = { clusterId: "ops", isAdmin: true };
  const { tokenID: tokenId, secretHash } = newToken();
  const invitation = { tokenId, secretHash, lifetimeMs: 1000, isReplacing: false };
  const enrolling = { tokenId, secretHash, clusterId: "rome", key: identity.id };
  const invites = (needsConfirmation: boolean) =>
    broker.engine.submit({ kind: "invite", by: admin, clusterId: "rome", needsConfirmation, ...invitation });

  test.each([
    ["by first use", async () => void (await asks({ ...rome }, header))],
    [
      "by an invitation",
      async () => {
        await invites(false);
        await broker.engine.submit({ kind: "enroll", ...enrolling });
      },
    ],
    [
      "by an admin who accepts it",
      async () => {
        await invites(true);
        await broker.engine.submit({ kind: "enroll", ...enrolling });
        await broker.engine.submit({ kind: "accept", by: admin, clusterId: "rome", key: identity.id });
      },
    ],
  ])("ends when it is bound %s; those of the agent itself and of other clusters stay", async (_, bind) => {
    const headers = Object.entries(header).map(([name, value]) => `${name}: ${value}`);
    const other = await openRawConnection(broker.port, paris);
    await other.ask("/api/v1/instructions");
    const unused = await openRawConnection(broker.port, rome);
    const stream = await listenTo(
      { port: broker.port, credentials: twin },
      "GET /api/v1/instructions?watch=true",
    );
    await bind();
    expect(broker.engine.ledger.members.get("rome")?.key).toBe(identity.id);
    await stream.closed;
    expect(await unused.ask("/api/v1/instructions", headers)).toContain("200 OK");
    expect(await other.ask("/api/v1/instructions")).toContain("200 OK");
    for (const { socket } of [unused, other]) socket.destroy();
  });

  test("is not taken for one of the agent that has shown the key on its own connection", async () => {
    const raw = await openRawConnection(broker.port, rome);
    const headers = Object.entries(header).map(([name, value]) => `${name}: ${value}`);
    await raw.ask("/api/v1/instructions");
    expect(await raw.ask("/api/v1/instructions", headers)).toContain("200 OK");
    expect(broker.engine.ledger.members.get("rome")?.key).toBe(identity.id);
    expect(await raw.ask("/api/v1/instructions", headers)).toContain("200 OK");
    raw.socket.destroy();
  });
});

describe("an evicted cluster", () => {
  test("loses its connections and streams, and is refused on new ones; others and admins stay", async () => {
    const raw = await openRawConnection(broker.port, rome);
    await raw.ask("/api/v1/instructions");
    const stream = await listenTo(
      { port: broker.port, credentials: rome },
      "GET /api/v1/instructions?watch=true",
    );
    const other = await openRawConnection(broker.port, paris);
    await other.ask("/api/v1/instructions");
    await broker.call(rome, "POST /api/v1/advertisements", { body: advertisementOf("rome") });
    expect(await evict("rome", { reason: "sold" })).toMatchObject({
      status: 200,
      json: { state: "evicted" },
    });
    await Promise.all([raw.closed, stream.closed]);
    expect(await asks({ ...rome })).toMatchObject(wrongInstance("brokerctl invite rome"));
    expect(await asks({ ...rome }, header)).toMatchObject(wrongInstance("was evicted"));
    expect(await other.ask("/api/v1/instructions")).toContain("200 OK");
    expect(await evict("rome")).toMatchObject({ status: 200 });
    other.socket.destroy();
  });

  test("loses its connections also when others change something in the same commit", async () => {
    await asks(rome, header);
    const raw = await openRawConnection(broker.port, rome);
    await raw.ask("/api/v1/instructions");
    const { engine } = broker;
    const before = engine.commitNumber;
    await Promise.all([
      engine.submit({ kind: "bind", clusterId: "paris", key: generateIdentityKey().id }),
      engine.submit({ kind: "evict", by: { clusterId: "ops", isAdmin: true }, clusterId: "rome" }),
    ]);
    expect(engine.commitNumber).toBe(before + 1);
    await raw.closed;
  });

  test("nobody has heard of is not found", async () => {
    expect(await evict("oslo")).toMatchObject({ status: 404 });
  });
});

test("a connection on which another key was shown, and not bound, is none of the agent's", async () => {
  const { check, hasCalledWithout } = createIdentityCheck({
    ledger: broker.engine.ledger,
    submit: () =>
      Promise.resolve({ kind: "rejected", code: "wrong-instance", message: "an admin must accept it" }),
  });
  const socket = new Socket();
  const request = { headers: { "agent-identity": header["Agent-Identity"] }, socket } as never;
  const leaf = { publicKey: createPublicKey(createPrivateKey(rome.key)) } as never;
  const caller = { clusterId: "rome", isAdmin: false };
  await expect(
    check({ route: { access: "cluster" }, name: "", caller } as never, request, () => leaf),
  ).rejects.toThrow("an admin must accept it");
  expect(hasCalledWithout(identity.id, socket)).toBe(false);
  expect(hasCalledWithout(generateIdentityKey().id, socket)).toBe(true);
});
