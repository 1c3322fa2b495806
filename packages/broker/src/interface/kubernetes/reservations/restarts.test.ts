import { isLive } from "@resource-broker/domain";
import { kubeClientFor, type MemoryDisk, memoryDisk } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { identify } from "../builders/identify.ts";
import { RESERVATIONS } from "../objects/object-informers.ts";
import { type CrashingBroker, type CrashPoint, crashAtWrite } from "../testing/crash-at-write.ts";
import { NAMESPACE, openEnvironment, type TestBroker, type TestEnvironment } from "../testing/environment.ts";
import { agentsReservation, personsReservation, publish, sendSignal } from "../testing/samples.ts";

/** More than a reservation's whole life takes: the last runs see a broker that does not die. */
const MOST_WRITES = 14;
const DEATHS: readonly CrashPoint[] = ["before", "after"];

let env: TestEnvironment;
beforeAll(async () => {
  env = await openEnvironment();
});
afterAll(() => env.stop());

/** A broker that dies once and is then replaced by one that lives. */
async function startCrashing(
  disk: MemoryDisk,
  own: CrashingBroker,
): Promise<{ readonly stop: () => Promise<void> }> {
  let broker: TestBroker = await env.startBroker({
    disk,
    client: own.client(kubeClientFor(env.cluster.kubeconfig)),
    wrapEngine: own.engine,
  });
  let isStopped = false;
  const watch = async (): Promise<void> => {
    while (!own.isOver() && !isStopped) await new Promise((resolve) => setImmediate(resolve));
    if (isStopped) return;
    await broker.stop();
    broker = await env.startBroker({ disk });
  };
  const watching = watch();
  return {
    stop: async () => {
      isStopped = true;
      await watching;
      await broker.stop();
    },
  };
}

function grantsIn({ commits }: MemoryDisk, id: string): number {
  const events = commits.flatMap(({ entries }) => entries.flatMap((entry) => entry.events));
  return events.filter((event) => event.kind === "granted" && event.reservation.id === id).length;
}

describe.each(DEATHS)("a broker that dies %s it has made a write", (death) => {
  test.each(Array.from({ length: MOST_WRITES }, (_, writes) => writes))(
    "(the one after %i others) books once, tells it, and never wedges the object",
    async (writes) => {
      const disk = memoryDisk();
      const healthy = await env.startBroker({ disk });
      await publish(env.client, "paris", { sequence: 1, instance: `${death}-${writes}` });
      await env.advertisement(
        "paris",
        ({ status, spec }) =>
          status?.active === true &&
          status.accepted?.instance === spec.instance &&
          spec.resources.available?.cpu === "16",
      );
      await healthy.stop();

      const name = `mine-${death}-${writes}`;
      // Either sort dies at each write, one way or the other.
      const isPersons = (writes + DEATHS.indexOf(death)) % 2 === 0;
      const object = isPersons ? personsReservation(name) : agentsReservation(name);
      const broker = await startCrashing(disk, crashAtWrite(writes, death));
      const created = await env.client.create(RESERVATIONS, object);
      const { id } = identify(created);
      const key = { name: created.metadata.name, namespace: NAMESPACE };
      await env.reservation(
        key.name,
        ({ status }) => status?.phase === "Reserved" && status.reservationID === id,
      );
      await sendSignal(env.client, key.name, { type: "requesterActive" });
      await env.reservation(key.name, ({ status }) => status?.phase === "Active");
      expect(isLive(disk.ledger.reservations.get(id)?.phase ?? "Failed")).toBe(true);
      await env.client.delete(RESERVATIONS, key);
      await env.gone(key.name);
      await broker.stop();
      expect(grantsIn(disk, id)).toBe(1);
      expect(disk.ledger.reservations.get(id)).toMatchObject({
        phase: "Released",
        reason: "ReleasedByRequester",
      });
      expect(disk.ledger.reservations.size).toBe(1);
    },
  );
});
