import { isLive } from "@resource-broker/domain";
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES } from "@resource-broker/kube";
import { memoryDisk } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { RESERVATIONS } from "../objects/object-informers.ts";
import { definitions, NAMESPACE, namespaceObject, type TestEnvironment } from "../testing/environment.ts";
import { agentsReservation, personsReservation } from "../testing/samples.ts";
import { advertiseProvider, inOwnEnvironment, named } from "./testing/reservations-hub.ts";

describe("a broker without its memory", () => {
  test("decides nothing again, marks what it does not know, and lets it be deleted", () =>
    inOwnEnvironment(async (other) => {
      const first = await other.startBroker();
      await advertiseProvider(other, "paris");
      await other.client.create(RESERVATIONS, personsReservation("lost"));
      await other.reservation("lost", ({ status }) => status?.phase === "Reserved");
      await first.stop();
      const second = await other.startBroker({ disk: memoryDisk() });
      const { status } = await other.reservation("lost", (object) =>
        (object.status?.conditions ?? []).some(
          ({ type, status: is }) => type === "Orphaned" && is === "True",
        ),
      );
      expect(status?.phase).toBe("Reserved");
      expect(second.engine.ledger.reservations.size).toBe(0);
      await other.client.delete(RESERVATIONS, named("lost"));
      await other.gone("lost");
    }));
});

describe("deleting the place of all objects", () => {
  const DEFINITION = { name: "reservations.broker.fluidos.eu" };

  test.each([
    [
      "namespace",
      (simNamespace: TestEnvironment) => simNamespace.client.delete(NAMESPACES, { name: NAMESPACE }),
      () => [namespaceObject()],
    ],
    [
      "definition",
      (simNamespace: TestEnvironment) => simNamespace.client.delete(CUSTOM_RESOURCE_DEFINITIONS, DEFINITION),
      definitions,
    ],
  ])("(the %s) releases nothing and is not held up", (_, deleteNamespace, back) =>
    inOwnEnvironment(async (other) => {
      const own = await other.startBroker({ policy: { stalenessMs: 1e12 } });
      await advertiseProvider(other, "paris");
      await other.client.create(RESERVATIONS, personsReservation("kept"));
      await other.client.create(RESERVATIONS, agentsReservation("kept-too"));
      await other.reservation("kept", ({ status }) => status?.phase === "Reserved");
      await other.reservation(
        agentsReservation("kept-too").metadata.name,
        ({ status }) => status?.phase === "Reserved",
      );
      await deleteNamespace(other);
      await other.until("the place is gone", async () => {
        const [namespace, definition] = [
          await other.client.find(NAMESPACES, { name: NAMESPACE }),
          await other.client.find(CUSTOM_RESOURCE_DEFINITIONS, DEFINITION),
        ];
        return namespace === undefined || definition === undefined ? true : undefined;
      });
      other.cluster.seed(back());
      await other.until("there can be objects again", () =>
        other.client.create(RESERVATIONS, personsReservation("again")),
      );
      await other.reservation("again", ({ status }) => status?.phase === "Reserved");
      const live = [...own.engine.ledger.reservations.values()].filter(({ phase }) => isLive(phase));
      expect(live).toHaveLength(3);
    }),
  );
});
