import {
  decisionSchema,
  describeProblems,
  queuePageSchema,
  reservationListSchema,
  reservationSchema,
  type Schema,
  validateExactly,
  waitingRequestSchema,
} from "@resource-broker/contract";
import type { Policy } from "@resource-broker/domain";
import { fakeClock, memoryStore, settle, testCertificates } from "@resource-broker/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ClientCredentials, listenTo, type TestReply } from "../testing/call.ts";
import { type RunningBroker, runBroker } from "../testing/running-broker.ts";
import { advertisementOf, NEWER_AGENT, requestOf, WAITING_AGENT } from "../testing/samples.ts";

const certificates = await testCertificates();
const rome = certificates.cluster("rome");
const oslo = certificates.cluster("oslo");
const paris = certificates.cluster("paris");
const ops = certificates.admin("ops");
const HOUR_MS = 3_600_000;

let broker: RunningBroker;
let time: ReturnType<typeof fakeClock>;

async function start(policy: Partial<Policy> = {}): Promise<void> {
  time = fakeClock();
  broker = await runBroker({ store: memoryStore(), clock: time, certificates: certificates.broker, policy });
  await broker.call(paris, "POST /api/v1/advertisements", {
    body: advertisementOf("paris"),
    headers: WAITING_AGENT,
  });
}
beforeEach(() => start());
afterEach(() => broker.stop());

async function restart(policy: Partial<Policy>): Promise<void> {
  await broker.stop();
  await start(policy);
}

const queueOf = (change: Partial<Policy["queue"]>): Pick<Policy, "queue"> => ({
  queue: { ...broker.engine.policy.queue, ...change },
});

interface Asking {
  readonly as?: ClientCredentials;
  readonly key?: string;
  readonly cpu?: string;
  readonly protocol?: object;
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Asks for everything that paris has, and waits for it. */
function ask({
  as = rome,
  key = "k",
  cpu = "16",
  protocol = WAITING_AGENT,
  more,
}: Asking = {}): Promise<TestReply> {
  const body = requestOf(cpu, "100Mi", more ?? { wait: { for: "1h" } });
  const headers = { ...protocol, ...(key === "" ? {} : { "Idempotency-Key": key }) };
  return broker.call(as, "POST /api/v1/reservations", { body, headers });
}

/** oslo holds all of paris. */
const fill = async (): Promise<string> =>
  read(reservationSchema, await ask({ as: oslo, key: "holder", more: {} })).id;

const get = (path: string, as = rome, headers: object = WAITING_AGENT): Promise<TestReply> =>
  broker.call(as, `GET /api/v1/${path}`, { headers: { ...headers } });
const remove = (path: string, as = rome, headers: object = WAITING_AGENT): Promise<TestReply> =>
  broker.call(as, `DELETE /api/v1/${path}`, { headers: { ...headers } });

/** The queue is looked at. */
async function look(): Promise<void> {
  await time.advance(0);
  await settle();
}

async function free(holder: string): Promise<void> {
  await remove(`reservations/${holder}`, oslo);
  await look();
}

/** The body as the contract describes it, with nothing beside it. */
function read<T>(schema: Schema<T>, { text, json }: TestReply): T {
  const validation = validateExactly(schema, json);
  if (validation.ok) return validation.value;
  throw new Error(`${describeProblems(validation.problems)} in ${text}`);
}
const waitingIn = (reply: TestReply) => read(waitingRequestSchema, reply);

describe("a request that may wait", () => {
  test("is granted at once where there is room", async () => {
    expect(await ask()).toMatchObject({ status: 201, json: { targetClusterID: "paris" } });
  });

  test("else waits, is found by its ID, and becomes a reservation with that ID", async () => {
    const holder = await fill();
    const asked = await ask();
    expect(asked.status).toBe(202);
    const { id, generation } = waitingIn(asked);
    expect(waitingIn(asked)).toMatchObject({
      requesterID: "rome",
      tenant: "rome",
      key: "k",
      status: { phase: "Pending" },
      until: "2026-01-05T13:00:00.000Z",
    });
    expect(waitingIn(asked).queue).toBeUndefined();
    const found = await get(`reservations/${id}`);
    expect(waitingIn(found).queue).toEqual({ position: 1, of: 1, reason: "Capacity", share: 0 });
    expect(waitingIn(found).status.message).toContain(
      "at position 1 of 1: no cluster that suits it has room",
    );

    await free(holder);
    const granted = read(reservationSchema, await get(`reservations/${id}`));
    expect(granted).toMatchObject({ id, targetClusterID: "paris", status: { phase: "Reserved" } });
    expect(granted.generation).toBeGreaterThan(generation);
    expect((await get("queue")).json).toEqual({ items: [], total: 0 });
  });

  test("is found again by a retry: 202 while it waits, and never longer than at first", async () => {
    await fill();
    const { id, until } = waitingIn(await ask());
    await time.advance(60_000);
    const again = await ask({ more: { wait: { for: "2h" } } });
    expect(again).toMatchObject({ status: 202, headers: { "idempotency-replayed": "true" } });
    expect(waitingIn(again)).toMatchObject({ id, until });
    expect(broker.engine.ledger.waiting.pendingCount).toBe(1);
  });

  test("keeps what the first request said of wait, namespace and resumes: a retry is not compared in them", async () => {
    await fill();
    const first = waitingIn(await ask({ more: { wait: { for: "1h" }, namespace: "ml" } }));
    const more = { wait: { for: "2h" }, namespace: "web", resumes: "rsv-rome-before" };
    const again = await ask({ more });
    expect(again).toMatchObject({ status: 202, headers: { "idempotency-replayed": "true" } });
    const { id, namespace, until } = first;
    expect(namespace).toBe("ml");
    expect(waitingIn(again)).toMatchObject({ id, namespace, until });
    for (const other of [{ priority: 1 }, { duration: "1h" }, { tier: "spot" }])
      expect((await ask({ more: { ...more, ...other } })).json).toMatchObject({ code: "key-mismatch" });
  });

  test("is found again by a retry: 200 with the reservation once it is granted", async () => {
    const holder = await fill();
    const { id } = waitingIn(await ask());
    await free(holder);
    const again = await ask();
    expect(again).toMatchObject({ status: 200, headers: { "idempotency-replayed": "true" } });
    expect(read(reservationSchema, again)).toMatchObject({ id, status: { phase: "Reserved" } });
  });

  test("fails when its time is over, and stays readable", async () => {
    await fill();
    const { id } = waitingIn(await ask());
    await time.advance(HOUR_MS + 1000);
    await settle();
    const failed = { id, reason: "WaitTimeout", status: { phase: "Failed" } };
    for (const reply of [await ask(), await get(`reservations/${id}`)]) {
      expect(reply.status).toBe(200);
      expect(waitingIn(reply)).toMatchObject({ ...failed, endedAt: expect.any(String) });
      expect(waitingIn(reply).queue).toBeUndefined();
    }
    expect((await get("queue")).json).toEqual({ items: [], total: 0 });
    expect((await get(`queue/${id}/explanation`)).status).toBe(404);
  });

  test("with the key of another request is refused", async () => {
    await fill();
    await ask();
    expect(await ask({ cpu: "15" })).toMatchObject({ status: 422, json: { code: "key-mismatch" } });
  });

  test("leaves the queue by its ID, and its key is closed", async () => {
    await fill();
    const { id } = waitingIn(await ask());
    for (let time = 0; time < 2; time++) {
      const left = await remove(`reservations/${id}`);
      expect(left.status).toBe(200);
      expect(waitingIn(left)).toMatchObject({
        id,
        reason: "ReleasedByRequester",
        status: { phase: "Released" },
      });
    }
    expect(await ask()).toMatchObject({ status: 410, json: { code: "key-released" } });
    expect(broker.engine.ledger.waiting.pendingCount).toBe(0);
  });

  test("leaves the queue by its key, which is closed", async () => {
    await fill();
    const { id } = waitingIn(await ask());
    const left = await remove("reservations?key=k");
    expect(waitingIn(left)).toMatchObject({ id, status: { phase: "Released" } });
    expect((await ask()).status).toBe(410);
  });

  test("is released by an admin, which its reason says", async () => {
    await fill();
    const { id } = waitingIn(await ask());
    expect(await remove(`reservations/${id}`, ops)).toMatchObject({
      status: 200,
      json: { reason: "ReleasedByAdmin" },
    });
  });

  const refused = [
    { name: "without a key", asking: { key: "" }, status: 400, says: "Idempotency-Key" },
    { name: "for no time", asking: { more: { wait: { for: "0s" } } }, status: 400, says: "wait.for" },
    {
      name: "for a day and a second",
      asking: { more: { wait: { for: "24h0m1s" } } },
      status: 422,
      says: "24h1s is longer than requests may wait (24h at most: queue.maxWait in the policy)",
    },
    {
      name: "of a namespace that is none",
      asking: { more: { namespace: "A b" } },
      status: 400,
      says: "namespace",
    },
  ];
  test.each(refused)("$name is refused", async ({ asking, status, says }) => {
    await fill();
    const reply = await ask(asking);
    expect(reply).toMatchObject({ status, json: { error: expect.stringContaining(says) } });
    expect(broker.engine.ledger.waiting.byId.size).toBe(0);
  });

  test("may wait as long as the policy says, to the second", async () => {
    await fill();
    expect((await ask({ more: { wait: { for: "24h" } } })).status).toBe(202);
  });
});

describe("the limits of the queue", () => {
  const full = { status: 429, json: { code: "queue-full" }, headers: { "retry-after": "1" } };

  test("all together: one more than queue.max is refused, and the reply names the limit", async () => {
    await restart(queueOf({ max: 2 }));
    await fill();
    expect((await ask({ key: "1" })).status).toBe(202);
    expect((await ask({ as: paris, key: "2" })).status).toBe(202);
    const third = await ask({ key: "3" });
    expect(third).toMatchObject(full);
    expect(third.text).toContain("2 requests wait already; the policy allows 2 (queue.max)");
    expect((await ask({ key: "1" })).status).toBe(202);
  });

  test("0 lets nobody wait", async () => {
    await restart(queueOf({ max: 0 }));
    await fill();
    expect(await ask()).toMatchObject(full);
    expect(await ask({ more: {} })).toMatchObject({ status: 409, json: { code: "no-capacity" } });
  });

  test("of one tenant: queue.perTenant counts all its clusters, and nobody else's", async () => {
    const ml = {
      members: [{ cluster: "rome", namespaces: ["ml-*"] }, { cluster: "paris" }],
      weight: 1,
      quota: {},
    };
    await restart({ ...queueOf({ maxPerTenant: 2 }), tenants: { ml } });
    await fill();
    const inNamespace = (namespace: string) => ({ more: { wait: { for: "1h" }, namespace } });
    expect(waitingIn(await ask({ key: "1", ...inNamespace("ml-a") }))).toMatchObject({
      tenant: "ml",
      namespace: "ml-a",
    });
    expect(waitingIn(await ask({ as: paris, key: "2" })).tenant).toBe("ml");
    const third = await ask({ key: "3", ...inNamespace("ml-b") });
    expect(third).toMatchObject(full);
    expect(third.text).toContain("2 requests of ml wait already; the policy allows 2 (queue.perTenant)");
    expect(waitingIn(await ask({ key: "4", ...inNamespace("web") })).tenant).toBe("rome");
    expect(waitingIn(await ask({ key: "5" })).tenant).toBe("rome");
    expect(await ask({ key: "6" })).toMatchObject(full);
  });
});

describe("agents that do not know of waiting", () => {
  const older = [
    { name: "of protocol 2", protocol: NEWER_AGENT },
    { name: "of the first version", protocol: {} },
    { name: "with a protocol that is no number", protocol: { "Agent-Protocol": "3.0" } },
  ];

  test.each(older)("$name are refused as before, although they say wait", async ({ protocol }) => {
    await fill();
    const reply = await ask({ protocol });
    expect(reply).toMatchObject({
      status: 409,
      json: { code: "no-capacity", decisionID: expect.any(String) },
    });
    expect(broker.engine.ledger.waiting.byId.size).toBe(0);
  });

  test.each(older)("$name never see a request that waits", async ({ protocol }) => {
    await fill();
    const { id } = waitingIn(await ask());
    const replay = await ask({ protocol });
    expect(replay).toMatchObject({ status: 409, json: { code: "no-capacity" } });
    expect(replay.text).toContain("waits in the queue with this key");
    expect((await get(`reservations/${id}`, rome, protocol)).status).toBe(404);
    expect((await remove(`reservations/${id}`, rome, protocol)).status).toBe(404);
    for (const path of ["reservations", "reservations?role=requester", "reservations?phase=Pending"])
      expect(read(reservationListSchema, await get(path, rome, protocol))).toEqual([]);
    expect(broker.engine.ledger.waiting.pendingCount).toBe(1);
    expect(await remove("reservations?key=k", rome, protocol)).toMatchObject({ status: 204, text: "" });
    expect(broker.engine.ledger.waiting.pendingCount).toBe(0);
    expect((await get(`reservations/${id}`, rome, protocol)).status).toBe(404);
    expect((await ask({ protocol })).status).toBe(410);
  });

  test("see what it has become once it is granted", async () => {
    const holder = await fill();
    const { id } = waitingIn(await ask());
    await free(holder);
    const reply = await ask({ protocol: NEWER_AGENT });
    expect(read(reservationSchema, reply)).toMatchObject({ id, status: { phase: "Reserved" } });
  });

  test("an advertisement keeps the number that came with it", async () => {
    for (const [sent, kept] of [
      ["2", 2],
      ["3", 3],
      ["7", 7],
      ["x", 1],
    ] as const) {
      await broker.call(oslo, "POST /api/v1/advertisements", {
        body: advertisementOf("oslo"),
        headers: { "Agent-Protocol": sent },
      });
      expect(broker.engine.ledger.accounts.get("oslo")?.advertisement?.protocol).toBe(kept);
    }
  });
});

describe("the queue", () => {
  test("shows clusters their own requests, and admins all, in order", async () => {
    await fill();
    const mine = waitingIn(await ask({ key: "low" })).id;
    await time.advance(1);
    const theirs = waitingIn(await ask({ as: paris, key: "p" })).id;
    const first = waitingIn(await ask({ key: "high", more: { wait: { for: "1h" }, priority: 5 } })).id;
    const ids = async (as: typeof rome, query = "") =>
      read(queuePageSchema, await get(`queue${query}`, as)).items.map(({ id, queue }) => [
        id,
        queue?.position,
      ]);
    expect(await ids(ops)).toEqual([
      [first, 1],
      [mine, 2],
      [theirs, 3],
    ]);
    expect(await ids(rome)).toEqual([
      [first, 1],
      [mine, 2],
    ]);
    expect(await ids(paris)).toEqual([[theirs, 3]]);
    expect(await ids(oslo)).toEqual([]);
    expect(await ids(ops, "?requester=paris")).toEqual([[theirs, 3]]);
    expect(await ids(rome, "?requester=paris")).toEqual([]);
  });

  test("shows the key to the requester alone", async () => {
    await fill();
    const { id } = waitingIn(await ask());
    expect(waitingIn(await get(`reservations/${id}`)).key).toBe("k");
    expect(waitingIn(await get(`reservations/${id}`, ops)).key).toBeUndefined();
    expect(read(queuePageSchema, await get("queue", ops)).items[0]?.key).toBeUndefined();
    expect(read(queuePageSchema, await get("queue")).items[0]?.key).toBe("k");
  });

  test("hides requests from other clusters, also from the provider that will lend", async () => {
    await fill();
    const { id } = waitingIn(await ask());
    for (const as of [paris, oslo]) {
      expect((await get(`reservations/${id}`, as)).status).toBe(404);
      expect((await get(`queue/${id}/explanation`, as)).status).toBe(404);
      expect((await remove(`reservations/${id}`, as)).status).toBe(404);
      expect((await broker.call(as, `POST /api/v1/reservations/${id}/activate`)).status).toBe(404);
    }
    const renewal = { body: { duration: "1h" }, headers: WAITING_AGENT };
    expect((await broker.call(rome, `POST /api/v1/reservations/${id}/renew`, renewal)).status).toBe(404);
    expect((await get("instructions", paris)).text).not.toContain(id);
    expect(broker.engine.ledger.waiting.pendingCount).toBe(1);
  });

  test("is explained by the decision that would be made now, which nobody records", async () => {
    await fill();
    const { id } = waitingIn(await ask());
    for (const as of [rome, ops]) {
      const decision = read(decisionSchema, await get(`queue/${id}/explanation`, as));
      expect(decision).toMatchObject({
        requesterID: "rome",
        candidates: [{ clusterID: "paris", reason: "capacity" }],
      });
      expect(decision.winner).toBeUndefined();
      expect((await get(`decisions/${decision.id}`, ops)).status).toBe(404);
    }
  });

  test("is read page by page", async () => {
    await fill();
    for (let count = 1; count <= 5; count++) await ask({ key: `k${count}` });
    const page = async (query: string) => {
      const { items, total, next } = read(queuePageSchema, await get(`queue?${query}`));
      return { positions: items.map(({ queue }) => queue?.position), total, next };
    };
    expect(await page("limit=5")).toEqual({ positions: [1, 2, 3, 4, 5], total: 5, next: undefined });
    expect(await page("limit=4")).toEqual({ positions: [1, 2, 3, 4], total: 5, next: "4" });
    expect(await page("limit=4&offset=4")).toEqual({ positions: [5], total: 5, next: undefined });
    expect(await page("offset=5")).toEqual({ positions: [], total: 5, next: undefined });
    expect(await page("limit=500")).toMatchObject({ total: 5 });
    expect(await page("limit=2&order=desc")).toEqual({ positions: [5, 4], total: 5, next: "2" });
    expect(await page("limit=2&offset=4&order=desc")).toMatchObject({ positions: [1], next: undefined });
    for (const query of ["limit=0", "limit=501", "offset=-1", "offset=x", "sort=beauty"])
      expect((await get(`queue?${query}`)).status).toBe(400);
  });
});

describe("the queue, as a list", () => {
  const asking = [
    { key: "small", cpu: "9", more: { wait: { for: "3h" }, namespace: "ml-a" } },
    { key: "large", cpu: "16", more: { wait: { for: "1h" }, namespace: "web" } },
    { as: paris, key: "other", cpu: "12", more: { wait: { for: "2h" }, priority: 5 } },
  ];

  test.each([
    ["", ["12", "9", "16"]],
    ["sort=cpu", ["9", "12", "16"]],
    ["sort=cpu&order=desc&limit=1", ["16"]],
    ["sort=until", ["16", "12", "9"]],
    ["sort=created&order=desc&offset=1", ["16", "9"]],
    ["sort=priority&order=desc", ["12", "9", "16"]],
    ["requester=paris", ["12"]],
    ["tenant=ml", ["9"]],
    ["tenant=rome&sort=cpu", ["16"]],
    ["q=ML", ["9"]],
    ["q=rsv-rome&sort=cpu", ["9", "16"]],
  ])("with %j has %j", async (query, cpus) => {
    const members = [{ cluster: "rome", namespaces: ["ml-*"] }];
    await restart({ tenants: { ml: { members, weight: 1, quota: {} } } });
    await fill();
    for (const each of asking) {
      await time.advance(1);
      expect((await ask(each)).status).toBe(202);
    }
    const { items } = read(queuePageSchema, await get(`queue?${query}`, ops));
    expect(items.map(({ requestedResources }) => requestedResources.cpu)).toEqual(cpus);
  });

  test("counts, filtered, only what the caller may see", async () => {
    await fill();
    for (const each of asking) await ask(each);
    expect(read(queuePageSchema, await get("queue?sort=cpu", rome)).total).toBe(2);
    expect(read(queuePageSchema, await get("queue?requester=paris", rome)).total).toBe(0);
  });
});

describe("while more waiting requests can be granted than one look grants", () => {
  const WAITING = 66;

  /** Of 66 waiting requests, the next batch grants 64. */
  async function unsettled(): Promise<void> {
    const holder = await fill();
    for (let count = 0; count < WAITING; count++)
      expect((await ask({ key: `k${count}`, cpu: "100m" })).status).toBe(202);
    await remove(`reservations/${holder}`, oslo);
  }

  test.each([
    { name: "protocol 3", protocol: WAITING_AGENT },
    { name: "protocol 2", protocol: NEWER_AGENT },
  ])("a newcomer of $name that does not wait is asked to come again in a second", async ({ protocol }) => {
    await unsettled();
    const newcomer = await ask({ as: oslo, key: "new", cpu: "1", more: {}, protocol });
    expect(newcomer).toMatchObject({
      status: 503,
      json: { code: "overloaded" },
      headers: { "retry-after": "1" },
    });
    expect(broker.engine.ledger.waiting.pendingCount).toBe(WAITING - 64);
    await look();
    expect(broker.engine.ledger.waiting.pendingCount).toBe(0);
    expect((await ask({ as: oslo, key: "new", cpu: "1", more: {}, protocol })).status).toBe(201);
  });

  test("a newcomer that waits is queued, and granted in its turn", async () => {
    await unsettled();
    const newcomer = await ask({ as: oslo, key: "new", cpu: "1" });
    expect(newcomer.status).toBe(202);
    await look();
    expect((await ask({ as: oslo, key: "new", cpu: "1" })).status).toBe(200);
  });

  test("quotes are answered, as if no look were due", async () => {
    await unsettled();
    const body = requestOf("1", "1Gi", { namespace: "shop" });
    for (const query of ["", "?weights=cost:1"])
      expect(await broker.call(ops, `POST /api/v1/quotes${query}`, { body })).toMatchObject({
        status: 200,
        json: { fits: true },
      });
  });
});

test("a quote counts for the tenant of its namespace", async () => {
  const ml = { members: [{ cluster: "rome", namespaces: ["ml"] }], weight: 1, quota: { cpuMillis: 2000 } };
  await restart({ tenants: { ml } });
  const quote = (namespace: string) =>
    broker.call(rome, "POST /api/v1/quotes", { body: requestOf("4", "1Gi", { namespace }) });
  expect((await quote("ml")).json).toMatchObject({ code: "quota-exceeded" });
  expect(await quote("web")).toMatchObject({ status: 200 });
});

test.each(["reservations", "quotes"])(
  "%s above the priority of the tenant are refused with a code of their own",
  async (call) => {
    await restart({ tenants: { default: { members: [], weight: 1, quota: {}, maxPriority: 5 } } });
    const asked = (priority: number) =>
      broker.call(rome, `POST /api/v1/${call}`, { body: requestOf("4", "1Gi", { priority }) });
    expect(await asked(50)).toMatchObject({
      status: 422,
      json: { code: "priority-too-high", error: "priority 50 is above the maximum of rome, 5" },
    });
    expect([200, 201]).toContain((await asked(5)).status);
  },
);

test("the stream says that a request has left the queue, to agents of protocol 3 only", async () => {
  await fill();
  const stream = (credentials: typeof rome, headers: object) =>
    listenTo({ port: broker.port, credentials }, "GET /api/v1/instructions?watch=true", {
      headers: { ...headers },
    });
  const [newer, older, other] = [
    await stream(rome, WAITING_AGENT),
    await stream(rome, NEWER_AGENT),
    await stream(paris, WAITING_AGENT),
  ];
  const { id } = waitingIn(await ask());
  expect((await remove(`reservations/${id}`)).status).toBe(200);
  const received = await newer.receives("event: waiting\n");
  const [, data = ""] = /event: waiting\n(?:id: .*\n)?data: (.*)\n/.exec(received) ?? [];
  const json: unknown = JSON.parse(data);
  expect(validateExactly(waitingRequestSchema, json)).toMatchObject({
    ok: true,
    value: { id, reason: "ReleasedByRequester", key: "k", status: { phase: "Released" } },
  });
  expect(received).not.toContain("Pending");
  // What comes after it has arrived: so it was not sent.
  await ask({ cpu: "1", key: "last", as: paris, more: {} });
  await remove("reservations?key=holder", oslo);
  await other.receives("event: instruction\n");
  for (const { received } of [older, other]) expect(received()).not.toContain(id);
  for (const each of [newer, older, other]) each.close();
});
