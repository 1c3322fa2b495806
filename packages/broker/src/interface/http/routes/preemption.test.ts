import {
  decisionSchema,
  describeProblems,
  drainReplySchema,
  reservationListSchema,
  reservationSchema,
  type Schema,
  validateExactly,
  waitingRequestSchema,
} from "@resource-broker/contract";
import { DEFAULT_POLICY } from "@resource-broker/domain";
import { fakeClock, memoryStore, settle, testCertificates } from "@resource-broker/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ClientCredentials, listenTo, type TestReply } from "../testing/call.ts";
import { type RunningBroker, runBroker } from "../testing/running-broker.ts";
import { advertisementOf, NEWER_AGENT, requestOf, WAITING_AGENT } from "../testing/samples.ts";

const certificates = await testCertificates();
const rome = certificates.cluster("rome");
const oslo = certificates.cluster("oslo");
const paris = certificates.cluster("paris");
const ops = certificates.admin("ops");
const MINUTE_MS = 60_000;

const NOTHING = { cpu: "0", memory: "0" };
const PART = { cpu: "4", memory: "100Mi" };
const EMPTY = {
  resources: { capacity: NOTHING, allocatable: NOTHING, allocated: NOTHING, available: NOTHING },
};

let broker: RunningBroker;
let time: ReturnType<typeof fakeClock>;

beforeEach(async () => {
  time = fakeClock();
  const preemption = { ...DEFAULT_POLICY.preemption, victims: "spot" } as const;
  const policy = { preemption };
  broker = await runBroker({ store: memoryStore(), clock: time, certificates: certificates.broker, policy });
});
afterEach(() => broker.stop());

async function advertise(as: ClientCredentials, name: string, more: object = {}): Promise<void> {
  const body = { ...advertisementOf(name), ...more };
  await broker.call(as, "POST /api/v1/advertisements", { body, headers: WAITING_AGENT });
}

/** Time passes, and all are heard: paris lends all it has, the others nothing. */
async function pass(minutes: number): Promise<void> {
  for (let minute = 0; minute <= minutes; minute++) {
    if (minute > 0) await time.advance(MINUTE_MS);
    await advertise(paris, "paris");
    await advertise(rome, "rome", EMPTY);
    await advertise(oslo, "oslo", EMPTY);
    await time.advance(250);
    await settle();
  }
}

function ask(as: ClientCredentials, key: string, more: Readonly<Record<string, unknown>>, agent: object) {
  const headers = { ...agent, "Idempotency-Key": key };
  return broker.call(as, "POST /api/v1/reservations", { body: requestOf("16", "100Mi", more), headers });
}

const get = (path: string, as: ClientCredentials): Promise<TestReply> =>
  broker.call(as, `GET /api/v1/${path}`, { headers: WAITING_AGENT });

function read<T>(schema: Schema<T>, { text, json }: TestReply): T {
  const validation = validateExactly(schema, json);
  if (validation.ok) return validation.value;
  throw new Error(`${describeProblems(validation.problems)} in ${text}`);
}

/** oslo's spot reservation holds all of paris; rome waits for it. */
async function noticed() {
  await pass(0);
  const victim = read(reservationSchema, await ask(oslo, "spot", { tier: "spot" }, WAITING_AGENT));
  await pass(11);
  const reply = await ask(rome, "urgent", { wait: { for: "4h" }, priority: 5 }, WAITING_AGENT);
  const { id } = read(waitingRequestSchema, reply);
  await time.advance(30_000);
  await settle();
  return { victim, id };
}

test("a victim is told when it ends and for which priority, and nobody for whom; it cannot be renewed", async () => {
  const { victim, id } = await noticed();
  for (const as of [oslo, paris, ops]) {
    const reply = await get(`reservations/${victim.id}`, as);
    expect(read(reservationSchema, reply).preempting).toMatchObject({ byPriority: 5 });
    expect(reply.text).not.toContain(id);
  }
  const renewed = await broker.call(oslo, `POST /api/v1/reservations/${victim.id}/renew`, {
    body: { duration: "2h" },
    headers: WAITING_AGENT,
  });
  expect(renewed).toMatchObject({ status: 403 });
  expect(renewed.text).not.toContain(id);
  expect((await get(`reservations/${id}`, rome)).json).toMatchObject({
    queue: { reason: "Capacity", nominatedTo: "paris" },
  });
});

test("reservations under notice are listed alone", async () => {
  const { victim } = await noticed();
  const list = async (query: string) =>
    read(reservationListSchema, await get(`reservations?${query}`, ops)).map(({ id }) => id);
  expect(await list("phase=preempting")).toEqual([victim.id]);
  expect(await list("phase=preempting&provider=paris")).toEqual([victim.id]);
  expect(await list("phase=preempting&requester=rome")).toEqual([]);
  await pass(6);
  expect(await list("phase=preempting")).toEqual([]);
  expect(await list("phase=Failed")).toEqual([victim.id]);
});

test("an admin reads who got notice and where; the requester does not, and others have no such decision", async () => {
  broker.engine.setPolicy({ ...broker.engine.policy, disclosure: "full" });
  let id = "";
  broker.engine.onCommit(({ events }) => {
    for (const event of events) if (event.kind === "nominated") id = event.decision?.id ?? "";
  });
  const { victim } = await noticed();
  const path = `decisions/${id}`;
  expect(read(decisionSchema, await get(path, ops)).notice).toMatchObject({
    chosen: { clusterID: "paris", victims: [{ reservationID: victim.id, tier: "spot" }] },
    alternatives: [],
  });
  const own = await get(path, rome);
  expect(read(decisionSchema, own)).toMatchObject({ id, requesterID: "rome" });
  expect(own.text).not.toMatch(/"notice"|Notice|spot of priority/u);
  expect(own.text).not.toContain(victim.id);
  for (const as of [oslo, paris]) expect(await get(path, as)).toMatchObject({ status: 404 });
});

test("both agents of a victim hear of the notice, and when it is withdrawn", async () => {
  await pass(0);
  const streams = await Promise.all(
    [oslo, paris].map((credentials) =>
      listenTo({ port: broker.port, credentials }, "GET /api/v1/instructions?watch=true", {
        headers: { ...WAITING_AGENT, Accept: "text/event-stream" },
      }),
    ),
  );
  const { victim, id } = await noticed();
  await broker.call(rome, `DELETE /api/v1/reservations/${id}`, { headers: WAITING_AGENT });
  for (const stream of streams) {
    const heard = await stream.receives(/"preempting".*"generation":3/s);
    expect(heard).toContain('"byPriority":5');
    expect(heard.slice(heard.lastIndexOf(victim.id))).not.toContain('"preempting"');
    expect(heard).not.toContain(id);
    stream.close();
  }
});

test("after its notice a victim ends as preempted, and asks again in its old place", async () => {
  const { victim, id } = await noticed();
  await pass(6);
  const ended = read(reservationSchema, await get(`reservations/${victim.id}`, oslo));
  expect(ended).toMatchObject({ status: { phase: "Failed" }, reason: "Preempted" });
  expect(ended.preempting).toBeUndefined();
  expect(read(reservationSchema, await get(`reservations/${id}`, rome))).toMatchObject({
    targetClusterID: "paris",
  });
  const more = { tier: "spot", wait: {}, resumes: victim.id };
  const again = read(waitingRequestSchema, await ask(oslo, "again", more, WAITING_AGENT));
  expect(again.since).toBe(victim.createdAt);
  const twice = read(waitingRequestSchema, await ask(oslo, "twice", more, WAITING_AGENT));
  expect(twice.since).toBeUndefined();
});

test("an admin drains a provider: agents are told and for no priority, those that cannot be told keep theirs", async () => {
  const renew = (id: string) =>
    broker.call(oslo, `POST /api/v1/reservations/${id}/renew`, {
      body: { duration: "2h" },
      headers: WAITING_AGENT,
    });
  await pass(0);
  const held = read(reservationSchema, await ask(oslo, "held", { requestedResources: PART }, WAITING_AGENT));
  const older = { body: requestOf("1", "100Mi"), headers: NEWER_AGENT };
  const kept = read(reservationSchema, await broker.call(rome, "POST /api/v1/reservations", older));
  await broker.call(rome, "POST /api/v1/advertisements", {
    body: { ...advertisementOf("rome"), ...EMPTY },
    headers: NEWER_AGENT,
  });
  const drain = await broker.call(ops, "POST /api/v1/clusters/paris/drain", {
    body: { reason: "new disks", grace: "10m" },
  });
  expect(read(drainReplySchema, drain)).toEqual({
    clusterID: "paris",
    cordoned: true,
    reason: "new disks",
    noticed: [held.id],
    untold: [kept.id],
  });
  const { preempting } = read(reservationSchema, await get(`reservations/${held.id}`, oslo));
  expect(preempting).toEqual({ at: new Date(time.wallMs() + 10 * MINUTE_MS).toISOString() });
  expect((await renew(held.id)).text).toContain("because paris is drained");
  const tooLong = await broker.call(ops, "POST /api/v1/clusters/paris/drain", { body: { grace: "169h" } });
  expect(tooLong.status).toBe(400);
  await time.advance(10 * MINUTE_MS);
  await settle();
  const ended = read(reservationSchema, await get(`reservations/${held.id}`, oslo));
  expect(ended).toMatchObject({ reason: "Preempted", status: { phase: "Failed" } });
  expect(ended.status.message).toContain("paris is drained: new disks");
  expect((await get(`reservations/${kept.id}`, rome)).json).toMatchObject({ status: { phase: "Reserved" } });
});

test("an agent that does not know of waiting is refused as before, whatever it resumes", async () => {
  const { victim } = await noticed();
  const more = { wait: {}, resumes: victim.id };
  expect(await ask(oslo, "again", more, NEWER_AGENT)).toMatchObject({ status: 409 });
});
