import { describe, expect, test } from "vitest";
import type { BrokerTransport } from "../broker-communicator.ts";
import { RESERVATIONS } from "./manifests.ts";
import { agentOnHub } from "./testing/agent-on-hub.ts";
import { outcomeOf } from "./testing/fake-agent.ts";
import { named, reservationObject } from "./testing/objects.ts";

const oneParty = async () => {
  const { clock, hub, agent: rome } = await agentOnHub("rome");
  const conditions = (name: string) =>
    hub.cluster
      .find(RESERVATIONS, named(name))
      ?.status?.conditions?.map(({ type, status }) => [type, status]);
  return { clock, hub, rome, conditions };
};

describe("what a party says", () => {
  test("is written once, however often it is said", async () => {
    const { hub, rome, conditions } = await oneParty();
    hub.cluster.put(
      RESERVATIONS,
      reservationObject("rsv-a", {}, { requesterID: "berlin", targetClusterID: "rome" }),
    );
    await rome.communicator.acknowledge("rsv-a", 1);
    await rome.communicator.acknowledge("rsv-a", 1);
    expect(conditions("rsv-a")).toEqual([["ProviderHolding", "True"]]);
    expect(
      hub.cluster.calls.filter(({ verb, plural }) => verb === "patch" && plural === "reservations"),
    ).toHaveLength(1);
  });

  test.each([
    { name: "activates", does: ({ activate }: BrokerTransport) => activate("rsv-a") },
    { name: "renews", does: ({ renew }: BrokerTransport) => renew("rsv-a", "1h") },
    { name: "releases", does: ({ release }: BrokerTransport) => release("rsv-a") },
  ])("who lends never $name", async ({ does }) => {
    const { hub, rome } = await oneParty();
    hub.cluster.put(
      RESERVATIONS,
      reservationObject("rsv-a", {}, { requesterID: "berlin", targetClusterID: "rome" }),
    );
    await expect(does(rome.communicator)).rejects.toMatchObject({ code: "forbidden" });
  });

  test("who is no party knows nothing of it", async () => {
    const { hub, rome, conditions } = await oneParty();
    hub.cluster.put(RESERVATIONS, reservationObject("rsv-a", {}, { requesterID: "berlin" }));
    const { activate, acknowledge, release, fetchReservation } = rome.communicator;
    await expect(activate("rsv-a")).rejects.toMatchObject({ code: "not-found" });
    await expect(acknowledge("rsv-a", 1)).rejects.toMatchObject({ code: "not-found" });
    await release("rsv-a");
    expect(await fetchReservation("rsv-a")).toBeUndefined();
    expect(conditions("rsv-a")).toBeUndefined();
  });

  test("a renewal that is refused says why", async () => {
    const { clock, hub, rome } = await oneParty();
    const expiresAt = "2026-01-05T12:10:00.000Z";
    hub.cluster.put(RESERVATIONS, reservationObject("rsv-a", { expiresAt }));
    const renewal = outcomeOf(rome.communicator.renew("rsv-a", "100h"));
    await clock.advance(0);
    const renewValue = hub.cluster.find(RESERVATIONS, named("rsv-a"))?.metadata.annotations?.[
      "broker.fluidos.eu/renew"
    ];
    expect(renewValue).toMatch(/^100h [0-9a-f]{16}$/);
    hub.writeReservation("rsv-a", {
      renewed: renewValue ?? "",
      code: "ttl-too-long",
      explanation: "at most 24h",
    });
    await clock.advance(0);
    expect(renewal.fault()).toBe("ttl-too-long: at most 24h");
  });

  test("a renewal is reported when the new end is there, too", async () => {
    const { clock, hub, rome } = await oneParty();
    hub.cluster.put(RESERVATIONS, reservationObject("rsv-a", { expiresAt: "2026-01-05T12:10:00.000Z" }));
    const renewal = outcomeOf(rome.communicator.renew("rsv-a", "2h"));
    await clock.advance(0);
    const { annotations } = hub.cluster.find(RESERVATIONS, named("rsv-a"))?.metadata ?? {};
    hub.writeReservation("rsv-a", { renewed: annotations?.["broker.fluidos.eu/renew"] ?? "" });
    await clock.advance(0);
    expect(renewal.isOver()).toBe(false);
    hub.writeReservation("rsv-a", { expiresAt: "2026-01-05T14:00:04.000Z", generation: 2 });
    await clock.advance(0);
    expect(renewal.value()?.status.expiresAt).toBe("2026-01-05T14:00:04.000Z");
  });

  test("about what is deleted meanwhile comes to nothing", async () => {
    const { clock, hub, rome } = await oneParty();
    hub.cluster.put(RESERVATIONS, reservationObject("rsv-a"));
    const activation = outcomeOf(rome.communicator.activate("rsv-a"));
    const release = outcomeOf(rome.communicator.release("rsv-a"));
    await clock.advance(0);
    hub.cluster.remove(RESERVATIONS, named("rsv-a"));
    await clock.advance(0);
    expect(activation.fault()).toContain("not-found");
    expect([release.isOver(), release.fault()]).toEqual([true, undefined]);
  });
});
