import {
  adoptionReplySchema,
  adoptionWindowSchema,
  advertisementReplySchema,
  advertisementSchema,
  auditPageSchema,
  cordonReplySchema,
  DEFAULT_SLICE,
  decisionSchema,
  describeProblems,
  errorSchema,
  quoteSchema,
  reservationListSchema,
  reservationSchema,
  type Schema,
  type SliceDefaults,
  validateExactly,
} from "@resource-broker/contract";
import { fakeClock, memoryStore, testCertificates } from "@resource-broker/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CallOptions, type ClientCredentials, caller, type TestReply } from "../testing/call.ts";
import { type RunningBroker, runBroker } from "../testing/running-broker.ts";
import { advertisementOf, NEWER_AGENT, requestOf } from "../testing/samples.ts";

const certificates = await testCertificates();
const rome = certificates.cluster("rome");
const paris = certificates.cluster("paris");
const ops = certificates.admin("ops");
/** Only a guard: a busy machine takes its time. */
const GUARD = { timeout: 20_000 };

let broker: RunningBroker;
let time: ReturnType<typeof fakeClock>;
let store: ReturnType<typeof memoryStore>;
let sliceDefaults: SliceDefaults;
beforeEach(async () => {
  time = fakeClock();
  store = memoryStore();
  sliceDefaults = DEFAULT_SLICE;
  broker = await runBroker({
    store,
    clock: time,
    certificates: certificates.broker,
    sliceDefaults: () => sliceDefaults,
  });
});
afterEach(() => broker.stop());

const keyed = (key: string): CallOptions => ({ body: requestOf(), headers: { "Idempotency-Key": key } });
const advertise = (credentials: ClientCredentials, clusterId: string, more = {}): Promise<TestReply> =>
  broker.call(credentials, "POST /api/v1/advertisements", {
    body: advertisementOf(clusterId, more),
    headers: NEWER_AGENT,
  });
const reserve = (options: CallOptions = { body: requestOf() }): Promise<TestReply> =>
  broker.call(rome, "POST /api/v1/reservations", options);

/** The body as the contract describes it, with nothing beside it. */
function read<T>(schema: Schema<T>, { text, json }: TestReply): T {
  const validation = validateExactly(schema, json);
  if (validation.ok) return validation.value;
  throw new Error(`${describeProblems(validation.problems)} in ${text}`);
}

describe("a reservation over HTTP", () => {
  test("is made, activated, renewed and released, and every answer is what the contract says", async () => {
    const accepted = read(advertisementReplySchema, await advertise(paris, "paris"));
    expect(accepted.advertisement.resources).toMatchObject({
      reserved: { cpu: "0" },
      available: { cpu: "16" },
    });

    const made = await reserve({ body: requestOf("4", "8Gi", { duration: "1h" }) });
    expect(made.status).toBe(201);
    const { id, status, generation } = read(reservationSchema, made);
    expect(status).toMatchObject({ phase: "Reserved", message: "Use paris for 4 CPU / 8Gi Memory" });
    expect(generation).toBe(1);

    const active = await broker.call(rome, `POST /api/v1/reservations/${id}/activate`);
    expect(read(reservationSchema, active)).toMatchObject({ generation: 2, status: { phase: "Active" } });

    await time.advance(60_000);
    const renewed = await broker.call(rome, `POST /api/v1/reservations/${id}/renew`, {
      body: { duration: "2h" },
    });
    expect(read(reservationSchema, renewed).status.expiresAt).toBe("2026-01-05T14:01:00.000Z");

    const released = await broker.call(rome, `DELETE /api/v1/reservations/${id}`);
    expect(read(reservationSchema, released)).toMatchObject({
      reason: "ReleasedByRequester",
      status: { phase: "Released" },
    });
    expect((await broker.call(rome, `DELETE /api/v1/reservations/${id}`)).status).toBe(200);
    const after = await broker.call(rome, `POST /api/v1/reservations/${id}/activate`);
    expect(after).toMatchObject({ status: 409, json: { code: "already-ended" } });
    expect((await broker.call(rome, `GET /api/v1/reservations/${id}`)).json).toMatchObject({
      status: { phase: "Released" },
    });
  });

  test("a retry with the same key gets the same one, in its current state, and says so", async () => {
    await advertise(paris, "paris");
    const first = await reserve(keyed("k"));
    const { id } = read(reservationSchema, first);
    expect(first.headers["idempotency-replayed"]).toBeUndefined();
    await broker.call(rome, `POST /api/v1/reservations/${id}/activate`);
    const again = await reserve(keyed("k"));
    expect(again.status).toBe(200);
    expect(again.headers["idempotency-replayed"]).toBe("true");
    expect(read(reservationSchema, again)).toMatchObject({ id, key: "k", status: { phase: "Active" } });
    expect(broker.engine.ledger.reservations.size).toBe(1);
  });

  describe("asked for by an admin", () => {
    const ofAdmin = (path: `${string} /${string}`, more: object = {}) =>
      broker.call(ops, path, { body: requestOf("4", "8Gi"), ...more });

    test("is for the cluster that is named, and the audit log says who asked", async () => {
      await advertise(paris, "paris");
      await advertise(rome, "rome");
      const made = await ofAdmin("POST /api/v1/reservations?requester=rome", keyed("k"));
      expect(made).toMatchObject({ status: 201, json: { requesterID: "rome" } });
      const again = await reserve(keyed("k"));
      expect(again).toMatchObject({ status: 200, json: { id: read(reservationSchema, made).id } });
      const { json } = await broker.call(ops, "GET /api/v1/audit");
      expect(json).toMatchObject({
        items: expect.arrayContaining([expect.objectContaining({ actor: "ops", action: "reserve" })]),
      });
      const released = await ofAdmin("DELETE /api/v1/reservations?key=k&requester=rome", { body: undefined });
      expect(released).toMatchObject({ status: 200, json: { status: { phase: "Released" } } });
    });

    test.each([
      { name: "nobody is named", path: "POST /api/v1/reservations", says: "ops is an admin, not a cluster" },
      { name: "nobody's key", path: "DELETE /api/v1/reservations?key=k", says: "ops is an admin" },
      {
        name: "the cluster is unknown",
        path: "POST /api/v1/reservations?requester=atlantis",
        says: 'no cluster "atlantis" has advertised here',
      },
      { name: "it is no name", path: "POST /api/v1/quotes?requester=..%2F", says: "no cluster" },
    ] as const)("is refused when $name", async ({ path, says }) => {
      await advertise(paris, "paris");
      expect(await ofAdmin(path)).toMatchObject({
        status: 400,
        json: { code: "invalid", error: expect.stringContaining(says) },
      });
      expect(broker.engine.ledger.reservations.size).toBe(0);
    });
  });

  test("a key is released before its request comes: the late request is gone", async () => {
    await advertise(paris, "paris");
    const closed = await broker.call(rome, "DELETE /api/v1/reservations?key=k");
    expect(closed).toMatchObject({ status: 204, text: "" });
    expect(await reserve(keyed("k"))).toMatchObject({ status: 410, json: { code: "key-released" } });
  });

  test("when nothing fits the answer is 409 with one reason for each cluster, and the decision can be read", async () => {
    await advertise(paris, "paris");
    const refused = await reserve({ body: requestOf("100", "500Gi") });
    expect(refused.status).toBe(409);
    const { code, reasons, flip, decisionID } = read(errorSchema, refused);
    expect(flip).toMatch(/^Would fit paris with 16 CPU instead of 100/);
    expect(code).toBe("no-capacity");
    expect(reasons).toMatchObject([{ clusterID: "paris", reason: "capacity", missing: { cpu: "84" } }]);
    const decision = read(decisionSchema, await broker.call(rome, `GET /api/v1/decisions/${decisionID}`));
    expect(decision).toMatchObject({ requesterID: "rome", considered: 1, fitted: 0 });
    expect(broker.engine.ledger.reservations.size).toBe(0);
  });

  test("other clusters' figures are told to admins only, where the policy says so", async () => {
    broker.engine.setPolicy({ ...broker.engine.policy, disclosure: "reasons" });
    await advertise(paris, "paris");
    const refused = read(errorSchema, await reserve({ body: requestOf("100", "500Gi") }));
    expect(JSON.stringify(refused.reasons)).not.toMatch(/84|missing/);
    expect(refused.flip).toBeUndefined();
    const address = `GET /api/v1/decisions/${refused.decisionID}` as const;
    expect((await broker.call(rome, address)).text).not.toContain("84");
    expect((await broker.call(ops, address)).text).toContain("84");
    const quoted = await broker.call(rome, "POST /api/v1/quotes", { body: requestOf("100", "500Gi") });
    expect(quoted.text).not.toContain("84");
  });

  test("a grant that its caller without a key never heard of is taken back", async () => {
    await advertise(paris, "paris");
    const release = store.blockCommits();
    const { call, close } = caller(broker.port);
    const lost = call(rome, "POST /api/v1/reservations", { body: requestOf() });
    await store.untilBlocked();
    close();
    await expect(lost).rejects.toThrow("socket hang up");
    await expect.poll(() => broker.http.openConnections(), GUARD).toBe(1);
    release();
    await expect
      .poll(() => [...broker.engine.ledger.reservations.values()].map(({ phase }) => phase), GUARD)
      .toEqual(["Released"]);
    expect(broker.logged).toContainEqual(expect.stringContaining("the requester closed the connection"));
  });

  test("a failing store is 503 with a time to come again, and nothing is reserved", async () => {
    await advertise(paris, "paris");
    const empty = store.fill();
    const failed = await reserve();
    expect(failed).toMatchObject({ status: 503, json: { code: "store-unavailable" } });
    expect(failed.headers["retry-after"]).toBe("1");
    expect((await broker.call(rome, "GET /api/v1/reservations")).json).toEqual([]);
    empty();
    expect((await reserve()).status).toBe(201);
  });
});

describe("lists", () => {
  test("of reservations go page by page, each to whom it concerns", async () => {
    await advertise(paris, "paris");
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) {
      ids.push(read(reservationSchema, await reserve({ body: requestOf("1", "1Gi") })).id);
    }
    ids.sort();
    const first = await broker.call(rome, "GET /api/v1/reservations?role=requester&limit=2");
    expect(read(reservationListSchema, first).map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const next = /^<(\/[^>]+)>; rel="next"$/.exec(String(first.headers["link"]))?.[1] as `/${string}`;
    const second = await broker.call(rome, `GET ${next}`);
    expect(read(reservationListSchema, second).map(({ id }) => id)).toEqual(ids.slice(2, 4));
    const last = await broker.call(rome, `GET /api/v1/reservations?limit=2&after=${ids[3]}`);
    expect(read(reservationListSchema, last).map(({ id }) => id)).toEqual(ids.slice(4));
    expect(last.headers["link"]).toBeUndefined();

    const seenBy = async (credentials: ClientCredentials, query: string) =>
      read(reservationListSchema, await broker.call(credentials, `GET /api/v1/reservations${query}`)).length;
    expect(await seenBy(paris, "")).toBe(5);
    expect(await seenBy(paris, "?role=provider")).toBe(5);
    expect(await seenBy(paris, "?role=requester")).toBe(0);
    expect(await seenBy(rome, "?role=provider")).toBe(0);
    expect(await seenBy(ops, "")).toBe(5);
    expect(await seenBy(certificates.cluster("tokyo"), "")).toBe(0);
  });

  test("of the audit log go page by page, and each line links to the one before", async () => {
    await advertise(paris, "paris");
    for (let count = 0; count < 4; count++) await reserve({ body: requestOf("1", "1Gi") });
    const first = read(auditPageSchema, await broker.call(ops, "GET /api/v1/audit?limit=2"));
    const second = read(
      auditPageSchema,
      await broker.call(ops, `GET /api/v1/audit?limit=2&after=${first.next}`),
    );
    const third = read(
      auditPageSchema,
      await broker.call(ops, `GET /api/v1/audit?limit=2&after=${second.next}`),
    );
    const all = [...first.items, ...second.items, ...third.items];
    expect(all.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
    expect(third.next).toBeUndefined();
    for (const [index, { previousHash }] of all.entries()) {
      expect(previousHash).toBe(all[index - 1]?.hash ?? "0".repeat(64));
    }
    expect(all[0]).toMatchObject({ actor: "broker", action: "open-adoption" });
    expect(all[1]).toMatchObject({ actor: "rome", action: "reserve" });
  });
});

describe("other calls", () => {
  test.each([
    ["of the predecessor's fork", { renewable: true, energyCost: 0.2 }],
    ["without a currency", { cpuCost: "0.1", memoryCost: "0.01" }],
    ["with an empty field", { cpuCost: "0.1", memoryCost: "", currency: "EUR" }],
  ])("an incomplete price %s drops the price, not the advertisement", async (_, cost) => {
    await advertise(paris, "paris", { cost });
    const [quote, shown] = [
      read(quoteSchema, await broker.call(rome, "POST /api/v1/quotes", { body: requestOf("4", "10G") })),
      read(advertisementSchema, await broker.call(paris, "GET /api/v1/advertisements/paris")),
    ];
    expect(quote).toMatchObject({ fits: true, targetClusterID: "paris" });
    expect(quote.cost).toBeUndefined();
    expect(shown.cost).toBeUndefined();
  });

  test("a quote reserves nothing", async () => {
    await advertise(paris, "paris", { cost: { cpuCost: "0.1", memoryCost: "0.01", currency: "EUR" } });
    const before = broker.engine.commitNumber;
    const reply = await broker.call(rome, "POST /api/v1/quotes", {
      body: requestOf("4", "10G", { duration: "2h" }),
    });
    const quote = read(quoteSchema, reply);
    expect(quote).toMatchObject({
      fits: true,
      targetClusterID: "paris",
      cost: { perHour: "0.5", total: "1", currency: "EUR" },
    });
    expect(broker.engine.commitNumber).toBe(before);
    const none = read(
      quoteSchema,
      await broker.call(rome, "POST /api/v1/quotes", { body: requestOf("100", "1Gi") }),
    );
    expect(none.fits).toBe(false);
    expect(none.targetClusterID).toBeUndefined();
  });

  test("a provider acknowledges, or refuses with its reason", async () => {
    await advertise(paris, "paris");
    const held = read(reservationSchema, await reserve());
    const ack = await broker.call(paris, `POST /api/v1/instructions/${held.id}/ack`, {
      body: { state: "held", generation: 1 },
    });
    expect(read(reservationSchema, ack).generation).toBe(2);
    const refusal = { state: "refused", reason: "two nodes failed" };
    const refused = await broker.call(paris, `POST /api/v1/instructions/${held.id}/ack`, { body: refusal });
    expect(read(reservationSchema, refused)).toMatchObject({
      reason: "ProviderRefused",
      status: { phase: "Failed", message: expect.stringContaining("two nodes failed") },
    });
  });

  test("a cordoned cluster lends nothing until it is uncordoned", async () => {
    await advertise(paris, "paris");
    const cordon = await broker.call(ops, "POST /api/v1/clusters/paris/cordon", {
      body: { reason: "maintenance" },
    });
    expect(read(cordonReplySchema, cordon)).toEqual({
      clusterID: "paris",
      cordoned: true,
      reason: "maintenance",
    });
    expect((await reserve()).text).toContain("maintenance");
    const uncordon = await broker.call(ops, "POST /api/v1/clusters/paris/uncordon");
    expect(read(cordonReplySchema, uncordon)).toEqual({ clusterID: "paris", cordoned: false });
    expect((await reserve()).status).toBe(201);
    expect((await broker.call(ops, "POST /api/v1/clusters/paris/cordon")).status).toBe(200);
  });

  /** The party reports a hold of 4 CPU, or of another size. */
  const offered = async (party: ClientCredentials, cpu = "4") => {
    const offer = {
      id: "rsv-rome-k3u7dq2hvmx5b4ta",
      requesterID: "rome",
      targetClusterID: "paris",
      requestedResources: { cpu, memory: "8Gi" },
      phase: "Active",
      generation: 2,
      createdAt: "2026-01-01T00:00:00Z",
    };
    const reply = await broker.call(party, "POST /api/v1/adoptions", { body: { reservations: [offer] } });
    return read(adoptionReplySchema, reply).results;
  };

  test("holds are adopted when both parties report them", async () => {
    await advertise(paris, "paris");
    expect(await offered(rome)).toMatchObject([
      { outcome: "waiting", message: "waits for paris to report the same hold" },
    ]);
    expect(await offered(paris, "5")).toMatchObject([{ outcome: "disputed" }]);
    expect(await offered(paris)).toMatchObject([{ outcome: "adopted", reservation: { generation: 3 } }]);
  });

  test("no hold is adopted once adoption is closed, until an admin opens it for a while", async () => {
    const window = async (call: string, body?: object) =>
      read(
        adoptionWindowSchema,
        await broker.call(ops, `${call} /api/v1/adoptions/window`, body === undefined ? {} : { body }),
      );
    await advertise(paris, "paris");
    expect(await window("GET")).toMatchObject({ open: true, cause: "created" });
    expect(await window("DELETE")).toMatchObject({ open: false, cause: "closed", by: "ops" });
    for (const party of [rome, paris]) {
      expect(await offered(party)).toMatchObject([
        { outcome: "refused", message: expect.stringContaining("brokerctl adoption open --for 1h") },
      ]);
    }
    expect(
      (await broker.call(ops, "POST /api/v1/adoptions/window", { body: { duration: "169h" } })).status,
    ).toBe(400);
    expect(await window("POST", { duration: "1h" })).toMatchObject({
      open: true,
      cause: "opened",
      by: "ops",
    });
    await offered(rome);
    expect(await offered(paris)).toMatchObject([{ outcome: "adopted" }]);
  });

  test("the policy's slice defaults are told to both parties, unless they are the usual ones", async () => {
    await advertise(paris, "paris");
    const usual = read(reservationSchema, await reserve());
    expect(usual).not.toHaveProperty("sliceDefaults");
    sliceDefaults = { pods: 50, ephemeralStorage: "5Gi" };
    expect(read(reservationSchema, await reserve())).toMatchObject({ sliceDefaults });
    const held = read(reservationListSchema, await broker.call(paris, "GET /api/v1/instructions"));
    expect(held.map((instruction) => instruction.sliceDefaults)).toEqual([sliceDefaults, sliceDefaults]);
    const accepted = read(advertisementReplySchema, await advertise(paris, "paris", { sequence: 2 }));
    expect(accepted.providerInstructions).toMatchObject([{ sliceDefaults }, { sliceDefaults }]);
  });

  test("every reply carries the ledger's id, the protocol and the engine's time, also an error", async () => {
    await time.advance(90_000);
    for (const target of ["GET /healthz", "GET /nowhere", "GET /api/v1/reservations"] as const) {
      expect((await broker.call(rome, target)).headers).toMatchObject({
        "ledger-id": broker.engine.ledgerId,
        "broker-protocol": "3",
        date: "Mon, 05 Jan 2026 12:01:30 GMT",
      });
    }
  });
});
