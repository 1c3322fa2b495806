import { RESERVATION_CONDITION, type Reservation } from "@resource-broker/contract/crd";
import { isLive } from "@resource-broker/domain";
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from "@resource-broker/kube";
import { type MemoryDisk, memoryDisk } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { identify } from "../builders/identify.ts";
import { type CrashingBroker, type CrashPoint, crashAtWrite } from "../testing/crash-at-write.ts";
import {
  definitions,
  inOwnEnvironment,
  namespaceObject,
  openEnvironment,
  type TestBroker,
  type TestEnvironment,
} from "../testing/environment.ts";
import { agentsReservation, NAMESPACE, personsReservation, publish, sendSignal } from "../testing/samples.ts";

/** More than a reservation's whole life takes: the last runs see a broker that does not die. */
const MOST_WRITES = 14;
/** The same for one that waits before, and for one that leaves the queue. */
const MOST_WRITES_WITH_WAIT = 16;
const WRITES_TO_LEAVE = 7;
const DEATHS: readonly CrashPoint[] = ["before", "after"];

let env: TestEnvironment;
beforeAll(async () => {
  env = await openEnvironment();
});
afterAll(() => env.stop());

/** A broker that dies once and is then replaced by one that lives. */
async function startCrashing(disk: MemoryDisk, own: CrashingBroker): Promise<() => Promise<void>> {
  const client = own.client(env.client);
  let broker: TestBroker = await env.startBroker({ disk, client, wrapEngine: own.engine });
  let isStopped = false;
  const watch = async (): Promise<void> => {
    while (!own.isOver() && !isStopped) await new Promise((resolve) => setImmediate(resolve));
    if (isStopped) return;
    await broker.stop();
    broker = await env.startBroker({ disk });
  };
  const watching = watch();
  return async () => {
    isStopped = true;
    await watching;
    await broker.stop();
  };
}

function eventsIn({ commits }: MemoryDisk, kind: "granted" | "queued", id: string): number {
  const events = commits.flatMap(({ entries }) => entries.flatMap((entry) => entry.events));
  return events.filter((event) => {
    if (event.kind !== kind) return false;
    return (event.kind === "granted" ? event.reservation.id : event.waiting.id) === id;
  }).length;
}

function grantsIn(disk: MemoryDisk, id: string): number {
  return eventsIn(disk, "granted", id);
}

/** paris lends 16 CPU to a new ledger. */
async function withParis(disk: MemoryDisk, instance: string, then: () => Promise<unknown>): Promise<void> {
  const healthy = await env.startBroker({ disk });
  await publish(env.client, "paris", { sequence: 1, instance });
  await env.advertisement(
    "paris",
    ({ status, spec }) => status?.accepted?.instance === instance && spec.resources.available?.cpu === "16",
  );
  await then();
  await healthy.stop();
}

/** Either sort dies at each write, one way or the other. */
function requestOf(name: string, isPersons: boolean, spec: Partial<Reservation["spec"]> = {}): Reservation {
  return isPersons ? personsReservation(name, spec) : agentsReservation(name, spec);
}

/** It is used and deleted, and the ledger has it once. */
async function useAndDelete(
  { metadata: { name } }: Reservation,
  disk: MemoryDisk,
  id: string,
): Promise<void> {
  await env.reservation(name, ({ status }) => status?.phase === "Reserved" && status.reservationID === id);
  await sendSignal(env.client, name, { type: "requesterActive" });
  await env.inPhase(name, "Active");
  expect(isLive(disk.ledger.reservations.get(id)?.phase ?? "Failed")).toBe(true);
  await env.remove(name);
  await env.gone(name);
}

describe.each(DEATHS)("a broker that dies %s it has made a write", (death) => {
  const isPersonsAt = (writes: number): boolean => (writes + DEATHS.indexOf(death)) % 2 === 0;

  test.each(Array.from({ length: MOST_WRITES }, (_, writes) => writes))(
    "(the one after %i others) books once, tells it, and never wedges the object",
    async (writes) => {
      const disk = memoryDisk();
      await withParis(disk, `${death}-${writes}`, () => Promise.resolve());
      const stop = await startCrashing(disk, crashAtWrite(writes, death));
      const created = await env.create(requestOf(`mine-${death}-${writes}`, isPersonsAt(writes)));
      const { id } = identify(created);
      await useAndDelete(created, disk, id);
      await stop();
      expect(grantsIn(disk, id)).toBe(1);
      expect([...disk.ledger.reservations.values()]).toMatchObject([
        { id, phase: "Released", reason: "ReleasedByRequester" },
      ]);
    },
  );

  test.each(Array.from({ length: MOST_WRITES_WITH_WAIT }, (_, writes) => writes))(
    "(the one after %i others) queues once, grants what waits to the same object, and loses nothing",
    async (writes) => {
      const disk = memoryDisk();
      const all = { requestedResources: { cpu: "16", memory: "1Gi" } };
      const holder = personsReservation(`holder-${death}-${writes}`, { ...all, requesterID: "oslo" });
      await withParis(disk, `wait-${death}-${writes}`, async () => {
        await env.create(holder);
        await env.inPhase(holder.metadata.name, "Reserved");
      });
      const stop = await startCrashing(disk, crashAtWrite(writes, death));
      const spec = { ...all, wait: { for: "4h" } };
      const created = await env.create(requestOf(`waits-${death}-${writes}`, isPersonsAt(writes), spec));
      const { id } = identify(created);
      const { name } = created.metadata;
      const pending = await env.reservation(name, ({ status }) => status?.reservationID === id);
      expect([pending.status?.phase, pending.spec.targetClusterID]).toEqual(["Pending", undefined]);
      await env.remove(holder.metadata.name);
      await env.gone(holder.metadata.name);
      await useAndDelete(created, disk, id);
      await stop();
      expect([eventsIn(disk, "queued", id), grantsIn(disk, id)]).toEqual([1, 1]);
      expect(disk.ledger.waiting.byId.size).toBe(0);
      expect(disk.ledger.reservations.get(id)).toMatchObject({ phase: "Released", generation: 4 });
    },
  );

  test.each(Array.from({ length: WRITES_TO_LEAVE }, (_, writes) => writes))(
    "(the one after %i others) takes a deleted request out of the queue, and then lets it go",
    async (writes) => {
      const disk = memoryDisk();
      const none = { requestedResources: { cpu: "17", memory: "1Gi" }, wait: {} };
      await withParis(disk, `leave-${death}-${writes}`, () => Promise.resolve());
      const stop = await startCrashing(disk, crashAtWrite(writes, death));
      const created = await env.create(requestOf(`leaves-${death}-${writes}`, isPersonsAt(writes), none));
      const { id } = identify(created);
      await env.reservation(created.metadata.name, ({ status }) => status?.reservationID === id);
      await env.remove(created.metadata.name);
      await env.gone(created.metadata.name);
      await stop();
      expect([eventsIn(disk, "queued", id), grantsIn(disk, id)]).toEqual([1, 0]);
      expect([...disk.ledger.waiting.byId.values()]).toMatchObject([{ id, reason: "ReleasedByRequester" }]);
    },
  );
});

test("a broker without its memory decides nothing again, marks what it does not know, and lets it be deleted", () =>
  inOwnEnvironment(async (other) => {
    const first = await other.startBroker();
    await other.lend("paris");
    await other.create(personsReservation("lost"));
    await other.inPhase("lost", "Reserved");
    await first.stop();
    const second = await other.startBroker({ disk: memoryDisk() });
    const { status } = await other.reservation("lost", (object) =>
      (object.status?.conditions ?? []).some(({ type }) => type === RESERVATION_CONDITION.orphaned),
    );
    expect(status?.phase).toBe("Reserved");
    expect(second.engine.ledger.reservations.size).toBe(0);
    await other.remove("lost");
    await other.gone("lost");
  }));

test.each([
  {
    place: "namespace",
    destroy: ({ client }: TestEnvironment) => client.delete(NAMESPACES, { name: NAMESPACE }),
    back: () => [namespaceObject()],
  },
  {
    place: "definition",
    destroy: ({ client }: TestEnvironment) =>
      client.delete(CUSTOM_RESOURCE_DEFINITIONS, { name: "reservations.broker.fluidos.eu" }),
    back: definitions,
  },
])("deleting the $place of all objects releases nothing and is not held up", ({ destroy, back }) =>
  inOwnEnvironment(async (other) => {
    const own = await other.startBroker({ policy: { stalenessMs: 1e12 } });
    await other.lend("paris");
    for (const object of [personsReservation("kept"), agentsReservation("kept-too")]) {
      await other.create(object);
      await other.inPhase(object.metadata.name, "Reserved");
    }
    await destroy(other);
    await other.until("the objects are gone", async () => {
      const found = await other.findReservation("kept").catch(() => undefined);
      return found === undefined ? true : undefined;
    });
    other.cluster.seed(back());
    await other.until("there can be objects again", () => other.create(personsReservation("again")));
    await other.inPhase("again", "Reserved");
    const live = [...own.engine.ledger.reservations.values()].filter(({ phase }) => isLive(phase));
    expect(live).toHaveLength(3);
  }),
);
