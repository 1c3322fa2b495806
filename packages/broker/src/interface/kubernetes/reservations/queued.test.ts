import { RESERVATION_FINALIZER, type Reservation } from "@resource-broker/contract/crd";
import { DEFAULT_POLICY, type Policy } from "@resource-broker/domain";
import { NAMESPACES } from "@resource-broker/kube";
import { memoryDisk } from "@resource-broker/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { identify } from "../builders/identify.ts";
import { RESERVATIONS } from "../objects/object-informers.ts";
import { openEnvironment, type TestBroker, type TestEnvironment } from "../testing/environment.ts";
import { agentsReservation, NAMESPACE, named, personsReservation, publish } from "../testing/samples.ts";

const MINUTE_MS = 60_000;
const FOR_EVER = 1e12;
const HALF = { requestedResources: { cpu: "8", memory: "1Gi" } };
const ALL = { requestedResources: { cpu: "16", memory: "1Gi" } };
const WAIT = { wait: { for: "4h" } };

let env: TestEnvironment;
let broker: TestBroker;
beforeEach(async () => {
  env = await openEnvironment();
});
afterEach(() => env.stop());

/** paris has lent all that it has to oslo. */
async function fullFleet(policy: Partial<Policy> = {}): Promise<void> {
  broker = await env.startBroker({ policy: { stalenessMs: FOR_EVER, ...policy } });
  await env.lend("paris", { cpu: 16 });
  await env.create(personsReservation("holder", { ...ALL, requesterID: "oslo" }));
  await env.inPhase("holder", "Reserved");
}
const waiting = (object: Reservation) => broker.engine.ledger.waiting.byId.get(identify(object).id);
const queueing = async (object: Reservation): Promise<Reservation> => {
  await env.create(object);
  return env.reservation(object.metadata.name, ({ status }) => status?.reservationID !== undefined);
};
const reasonsIn = ({ status }: { readonly status?: Reservation["status"] | undefined }) =>
  Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status: is, reason }) => [type, `${is} ${reason}`]),
  );

describe.each([
  ["a person's", personsReservation],
  ["an agent's", agentsReservation],
] as const)("%s Reservation that waits", (_, make) => {
  test("is Pending without a target, and becomes Reserved under the same ID", async () => {
    await fullFleet();
    const object = await queueing(make("mine", { ...HALF, ...WAIT, namespace: "ml" }));
    const { name } = object.metadata;
    const { id } = identify(object);
    expect(object.status).toMatchObject({
      phase: "Pending",
      reservationID: id,
      tenant: "rome",
      generation: 1,
    });
    expect(object.spec.targetClusterID).toBeUndefined();
    expect(object.metadata.finalizers).toEqual([RESERVATION_FINALIZER]);
    expect(waiting(object)).toMatchObject({ id, namespace: "ml", protocol: 3 });
    const placed = await env.reservation(name, ({ status }) => status?.queue !== undefined);
    expect(placed.status?.queue).toMatchObject({ position: 1, of: 1, place: "1/1", reason: "Capacity" });
    expect(reasonsIn(placed)).toEqual({
      Reserved: "False Queued",
      Ready: "False Queued",
      Queued: "True Capacity",
    });
    await env.remove("holder");
    const { status, spec } = await env.inPhase(name, "Reserved");
    expect(spec.targetClusterID).toBe("paris");
    expect(status).toMatchObject({ reservationID: id, generation: 2, createdAt: object.status?.createdAt });
    for (const gone of ["queue", "until", "tenant"]) expect(status).not.toHaveProperty(gone);
    expect(Object.keys(reasonsIn({ status }))).not.toContain("Queued");
    await env.until("Events tell of both", async () => {
      const told = (await env.eventsOf(name)).map(({ reason }) => reason);
      return (told.includes("Queued") && told.includes("Reserved")) || undefined;
    });
  });

  test("leaves the queue when it is deleted, and only then is gone", async () => {
    await fullFleet();
    const object = await queueing(make("mine", { ...HALF, ...WAIT }));
    broker.interrupt(() => {
      expect(waiting(object)?.phase).toBe("Released");
      return Promise.resolve();
    });
    await env.remove(object.metadata.name);
    await env.gone(object.metadata.name);
    expect(waiting(object)).toMatchObject({ reason: "ReleasedByRequester" });
  });

  test("fails when it has waited for as long as it may", async () => {
    await fullFleet({ stalenessMs: 2 * MINUTE_MS });
    const object = await queueing(make("mine", { ...HALF, wait: { for: "10m" } }));
    for (let minute = 1; minute < 12; minute++) {
      await env.time.advance(MINUTE_MS);
      await publish(env.client, "paris", { sequence: 1 + minute });
    }
    const { status, spec, metadata } = await env.inPhase(object.metadata.name, "Failed");
    expect(status).toMatchObject({ reason: "WaitTimeout", reservationID: identify(object).id });
    expect(status?.message).toContain("WaitTimeout");
    expect(status).not.toHaveProperty("queue");
    expect(spec.targetClusterID).toBeUndefined();
    expect(metadata.finalizers ?? []).toEqual([]);
  });

  test("is decided again by a ledger that does not know it", async () => {
    await fullFleet();
    const object = await queueing(make("mine", { ...HALF, ...WAIT }));
    await broker.stop();
    broker = await env.startBroker({ policy: { stalenessMs: FOR_EVER }, disk: memoryDisk() });
    await env.lend("paris", { cpu: 4, sequence: 9 });
    const again = await env.reservation(
      object.metadata.name,
      ({ status }) => status?.ledgerID === broker.engine.ledgerId,
    );
    expect(again.status?.phase).toBe("Pending");
    expect(waiting(object)?.phase).toBe("Pending");
    await env.lend("paris", { cpu: 16, sequence: 10 });
    const { status } = await env.inPhase(object.metadata.name, "Reserved");
    expect(status?.reservationID).toBe(identify(object).id);
  });
});

test.each([
  ["without spec.wait", {}, { reason: "NoCapacity", code: "no-capacity" }],
  [
    "for longer than the policy allows",
    { wait: { for: "25h" } },
    { reason: "Invalid", code: "ttl-too-long" },
  ],
] as const)("a request %s is refused", async (_, spec, expected) => {
  await fullFleet();
  await env.create(personsReservation("mine", { ...HALF, ...spec }));
  expect((await env.inPhase("mine", "Failed")).status).toMatchObject(expected);
  expect(broker.engine.ledger.waiting.pendingCount).toBe(0);
});

test("a request beyond the limits of the queue is refused, and says which limit", async () => {
  await fullFleet({ queue: { ...DEFAULT_POLICY.queue, max: 1 } });
  await queueing(personsReservation("first", { ...HALF, ...WAIT }));
  await env.create(personsReservation("second", { ...HALF, ...WAIT }));
  const { status } = await env.inPhase("second", "Failed");
  expect(status).toMatchObject({ reason: "NoCapacity", code: "queue-full" });
  expect(status?.message).toContain("queue.max");
});

test.each([
  { what: "gone", status: null },
  { what: "refused", status: { phase: "Failed", reason: "NoCapacity" } },
  { what: "released", status: { phase: "Released", until: null } },
  { what: "granted", status: { phase: "Reserved", reservationID: "rsv-rome-other" } },
  { what: "waiting for ever", status: { until: "2099-01-01T00:00:00Z" } },
  { what: "without conditions", status: { conditions: [] } },
])(
  "a waiting object that is edited to be $what is the broker's again, and waits as before",
  async ({ status }) => {
    await fullFleet();
    for (const make of [personsReservation, agentsReservation]) {
      const object = await queueing(make("mine", { ...HALF, ...WAIT }));
      const { name } = object.metadata;
      const patch = { kind: "merge", body: { status } } as const;
      await env.client.patch(RESERVATIONS, { name: named(name), patch }, { subresource: "status" });
      await env.time.advance(2000);
      const again = await env.findReservation(name);
      expect(again?.status).toMatchObject({ phase: "Pending", until: object.status?.until });
      expect(reasonsIn({ status: again?.status })).toHaveProperty("Queued");
      expect(waiting(object)).toMatchObject({ phase: "Pending", generation: 1 });
    }
    expect(broker.engine.ledger.waiting.pendingCount).toBe(2);
  },
);

test("deleting the namespace takes nothing out of the queue", async () => {
  await fullFleet();
  const object = await queueing(personsReservation("mine", { ...HALF, ...WAIT }));
  await env.client.delete(NAMESPACES, { name: NAMESPACE });
  await env.until("the object is gone", async () => {
    const found = await env.findReservation("mine").catch(() => undefined);
    return found === undefined ? true : undefined;
  });
  expect(waiting(object)?.phase).toBe("Pending");
});

test("a waiting object is not replaced by the view of a reservation that takes its name", async () => {
  broker = await env.startBroker({ policy: { stalenessMs: FOR_EVER }, options: { views: true } });
  await env.lend("paris", { cpu: 16 });
  const object = await queueing(
    personsReservation("rsv-oslo-other", {
      ...ALL,
      requestedResources: { cpu: "17", memory: "1Gi" },
      ...WAIT,
    }),
  );
  await broker.reserve("oslo", "rsv-oslo-other");
  await env.time.advance(5 * MINUTE_MS);
  expect((await env.findReservation("rsv-oslo-other"))?.metadata.uid).toBe(object.metadata.uid);
  expect(waiting(object)?.phase).toBe("Pending");
});

test("places are written when they matter, once a minute for each object at most, and then no more", async () => {
  await fullFleet();
  const names = Array.from({ length: 40 }, (_, index) => `w-${String(index).padStart(2, "0")}`);
  for (const name of names) await queueing(personsReservation(name, { ...HALF, ...WAIT }));
  await env.time.advance(2 * MINUTE_MS);
  const placed = await env.reservation("w-39", ({ status }) => status?.queue !== undefined);
  expect(placed.status?.queue).toMatchObject({ position: 40, of: 40 });
  broker.writes.length = 0;
  await env.time.advance(10 * MINUTE_MS);
  expect(broker.writes.filter(({ name }) => name.startsWith("w-"))).toEqual([]);
  for (const name of names.slice(0, 25)) await env.remove(name);
  broker.writes.length = 0;
  await env.time.advance(3 * MINUTE_MS);
  const writes = broker.writes.filter(({ name }) => name === "w-39");
  expect(writes.length).toBeLessThanOrEqual(3);
  expect((await env.findReservation("w-39"))?.status?.queue).toMatchObject({ position: 15, of: 15 });
  const times = broker.writes.filter(({ name }) => names.indexOf(name) >= 25).map(({ atMs }) => atMs);
  for (const from of times)
    expect(times.filter((at) => at >= from && at < from + 1000).length).toBeLessThanOrEqual(20);
});
