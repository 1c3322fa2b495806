import { Fault } from "@resource-broker/base";
import { BROKER_LEASE, RESERVATION_CONDITION } from "@resource-broker/contract/crd";
import { LEASES } from "@resource-broker/kube";
import { describe, expect, test } from "vitest";
import { recordedLog } from "../../testing/recorded-log.ts";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "./manifests.ts";
import { createReservationIndex } from "./reservation-index.ts";
import { agentOnHub, readerOf } from "./testing/agent-on-hub.ts";
import { advertisementOf, named, reservationObject } from "./testing/fake-hub.ts";

const SINCE = { lastTransitionTime: "2026-01-05T12:00:00Z" };
const ORPHANED = {
  type: RESERVATION_CONDITION.orphaned,
  status: "True",
  reason: "x",
  message: "",
  ...SINCE,
} as const;

describe("a stream", () => {
  test("reports each state once, in order, however often the object is written", async () => {
    const { hub, put, read } = await agentOnHub("paris");
    const reader = read();
    put("rsv-a");
    hub.writeReservation("rsv-a", { message: "written again" });
    hub.writeReservation("rsv-a", { phase: "Active", generation: 2 });
    hub.writeReservation("rsv-a", { lastUpdateTime: "2026-01-05T12:00:00Z" });
    put("rsv-b");
    hub.writeReservation("rsv-a", { phase: "Released", generation: 3, reason: "ReleasedByRequester" });
    expect(await reader.received()).toEqual([
      "instruction rsv-a Reserved",
      "instruction rsv-a Active",
      "instruction rsv-b Reserved",
      "instruction rsv-a Released",
    ]);
  });

  test("says nothing of what is not decided, refused, a question, forgotten by the broker or unreadable", async () => {
    const { agent, hub, put, read } = await agentOnHub("paris");
    const reader = read();
    put("rsv-a", { phase: "Pending" });
    put("rsv-b", { phase: "Failed", reason: "NoCapacity" });
    put("quote-1", {}, { intent: "Quote" });
    put("rsv-c", { conditions: [ORPHANED] });
    put("rsv-d", { ledgerID: "led-0" });
    put("rsv-e", {}, { requestedResources: { cpu: "much", memory: "1Gi" } });
    hub.writeReservation("rsv-e", { message: "again" });
    expect(await reader.received()).toEqual([]);
    expect(agent.logLines.filter((line) => line.includes("rsv-e"))).toHaveLength(1);
  });

  test("takes an object that is deleted for no end, unless its last state was one", async () => {
    const { clock, hub, put, read } = await agentOnHub("paris");
    put("rsv-a");
    put("rsv-b");
    await clock.advance(0);
    const reader = read();
    await reader.received();
    hub.cluster.remove(RESERVATIONS, named("rsv-a"));
    hub.cluster.setWatchLag(100);
    hub.writeReservation("rsv-b", { phase: "Released", generation: 2, reason: "Expired" });
    hub.cluster.remove(RESERVATIONS, named("rsv-b"));
    await clock.advance(1000);
    expect(await reader.received()).toEqual(["instruction rsv-b Released"]);
  });

  test("of a reservation under any name tells its name in the ledger", async () => {
    const { agent, put, found, read } = await agentOnHub("paris");
    put("a-persons", { reservationID: "rsv-nobody-x" });
    expect(await read().received()).toEqual(["instruction rsv-nobody-x Reserved"]);
    await agent.acknowledge("rsv-nobody-x", 1);
    expect(found("a-persons")?.status?.conditions).toMatchObject([{ type: "ProviderHolding" }]);
  });

  test("ends when its watch may no longer be made, though the broker lives", async () => {
    const { clock, hub, read } = await agentOnHub("paris");
    const reader = read();
    await clock.advance(0);
    hub.cluster.setCallFaults(({ verb, plural }) =>
      verb === "watch" && plural === "reservations"
        ? { fault: new Fault("forbidden", "user paris may not watch reservations") }
        : undefined,
    );
    hub.cluster.cutWatches();
    await clock.advance(0);
    expect(reader.ended()).toContain("the watch of reservations broke");
    const next = read();
    await clock.advance(20_000);
    expect(next.ended()).toContain("may not watch reservations");
  });

  test("is not opened where nothing can be listed", async () => {
    const { clock, hub, connect } = await agentOnHub("paris");
    const fault = new Fault("forbidden", "user berlin may not list reservations");
    hub.cluster.setCallFaults(({ plural }) => (plural === "reservations" ? { fault } : undefined));
    const reader = readerOf(await connect("berlin"));
    await clock.advance(11_000);
    expect(reader.ended()).toContain("may not list reservations");
  });

  test("has one reader at a time: a second one takes over, and hears what the first did not", async () => {
    const { put, read } = await agentOnHub("paris");
    const first = read();
    await first.received();
    const second = read();
    put("rsv-a");
    expect(await second.received()).toEqual(["instruction rsv-a Reserved"]);
    expect([first.ended(), await first.received()]).toEqual(["", []]);
  });

  test("begins again where the API server has forgotten what happened, ends included", async () => {
    const { clock, hub, put, read } = await agentOnHub("paris");
    put("rsv-a");
    put("rsv-b");
    await clock.advance(0);
    const reader = read();
    await reader.received();
    let forgotten = 2;
    hub.cluster.setCallFaults(({ verb, plural }) =>
      verb === "watch" && plural === "reservations" && forgotten-- > 0
        ? { fault: new Fault("gone", "too old resource version") }
        : undefined,
    );
    hub.cluster.cutWatches();
    hub.writeReservation("rsv-a", { phase: "Released", generation: 2, reason: "Expired" });
    put("rsv-c");
    await clock.advance(0);
    const next = read();
    await clock.advance(5000);
    const received = await next.received();
    expect(received[0]).toMatch(/^reset: the watch history of the API server is gone/);
    // Each role has a watch of its own, and each may have to begin anew.
    const last = new Map(
      received.filter((line) => !line.startsWith("reset")).map((line) => [line.split(" ")[1], line]),
    );
    expect([...last.values()].toSorted()).toEqual([
      "instruction rsv-a Released",
      "instruction rsv-b Reserved",
      "instruction rsv-c Reserved",
    ]);
  });

  test("begins again where more happened than is kept for it, and still hears of ends", async () => {
    const { clock, put, read } = await agentOnHub("paris");
    const before = read();
    await before.received();
    before.stop();
    await clock.advance(0);
    put("rsv-z", { phase: "Released", reason: "Expired" });
    for (let index = 0; index < 1000; index++) put(`rsv-${index}`);
    await clock.advance(0);
    const received = await read().received();
    expect(received[0]).toContain("reset: more than 1000 changes");
    expect(received).toHaveLength(1002);
    expect(received).toContain("instruction rsv-z Released");
  });
});

describe("an index of reservations", () => {
  const emptyIndex = () => {
    const told: string[] = [];
    const { sink } = createReservationIndex("provider", {
      log: recordedLog(),
      onUpdate: ({ reservation }) => void told.push(`${reservation.id} ${reservation.status.phase}`),
      onWaiting: () => undefined,
      onRelist: () => void told.push("relist"),
    });
    return { sink, told };
  };

  test("tells of an object that replaced another one of the same name and state", () => {
    const { sink, told } = emptyIndex();
    const object = reservationObject("rsv-a");
    for (const uid of ["uid-1", "uid-1", "uid-2"]) {
      sink.put({ ...object, metadata: { ...object.metadata, uid, resourceVersion: "7" } });
    }
    expect(told).toEqual(["rsv-a Reserved", "rsv-a Reserved"]);
  });

  test("tells of a new list before the ends that were found in it", () => {
    const { sink, told } = emptyIndex();
    for (const phase of ["Reserved", "Released"] as const) {
      sink.beginList();
      sink.put(reservationObject("rsv-a", { phase }));
      sink.endList();
    }
    expect(told).toEqual(["rsv-a Reserved", "relist", "rsv-a Released"]);
  });
});

describe("capacity", () => {
  test.each([
    { name: "not what was there before", says: ["10:00"], times: 0 },
    { name: "the first time", says: [undefined, "10:00"], times: 1 },
    { name: "each new time once", says: ["10:00", "10:00", "10:02", "10:02", "10:04"], times: 2 },
    { name: "not that a new leader says nothing yet", says: ["10:00", undefined, undefined], times: 0 },
    { name: "not what is said again", says: ["10:00", undefined, "10:00"], times: 0 },
    { name: "what a new leader noticed", says: ["10:00", undefined, "10:09"], times: 1 },
  ])("that was freed is reported: $name", async ({ says, times }) => {
    const { clock, hub, connect } = await agentOnHub("paris");
    const [first, ...others] = says;
    hub.free(first);
    await clock.advance(2000);
    const reader = readerOf(await connect("berlin"));
    await clock.advance(4000);
    await reader.received();
    const received: string[] = [];
    for (const shown of others) {
      hub.free(shown);
      await clock.advance(2000);
      received.push(...(await reader.received()));
    }
    expect(received).toEqual(Array(times).fill("freed: "));
  });

  const clusterAtRisk = async () => {
    const { hub, ...others } = await agentOnHub("paris");
    const overcommitted = (clusterId: string, status: "True" | "False", message: string): void =>
      hub.writeAdvertisement(clusterId, (object) => ({
        ...object,
        status: { conditions: [{ type: "Overcommitted", status, reason: "x", message, ...SINCE }] },
      }));
    const advertise = (clusterId: string): void =>
      void hub.cluster.put(CLUSTER_ADVERTISEMENTS, {
        apiVersion: "broker.fluidos.eu/v1alpha1",
        kind: "ClusterAdvertisement",
        metadata: named(`${clusterId}-adv`),
        spec: advertisementOf(clusterId),
      });
    return { hub, ...others, overcommitted, advertise };
  };

  test("at risk is reported when it begins and when it changes, not what was so before", async () => {
    const { read, advertise, overcommitted } = await clusterAtRisk();
    advertise("paris");
    const reader = read();
    await reader.received();
    overcommitted("paris", "True", "was so when it was first seen");
    expect(await reader.received()).toEqual([]);
    overcommitted("paris", "False", "enough");
    overcommitted("paris", "True", "2 CPU less");
    overcommitted("paris", "True", "2 CPU less");
    overcommitted("paris", "True", "3 CPU less");
    expect(await reader.received()).toEqual(["at-risk: paris: 2 CPU less", "at-risk: paris: 3 CPU less"]);
  });

  test("at risk in a cluster that something is borrowed from is reported while it is", async () => {
    const { clock, hub, put, read, advertise, overcommitted } = await clusterAtRisk();
    advertise("rome");
    put("rsv-a", {}, { requesterID: "paris", targetClusterID: "rome" });
    await clock.advance(0);
    const reader = read();
    await reader.received();
    overcommitted("rome", "False", "enough");
    overcommitted("rome", "True", "2 CPU less");
    expect(await reader.received()).toEqual(["at-risk: rome: 2 CPU less"]);
    hub.writeReservation("rsv-a", { phase: "Released", generation: 2, reason: "Expired" });
    await reader.received();
    overcommitted("rome", "True", "3 CPU less");
    expect(await reader.received()).toEqual([]);
  });
});

test("a broker that was never there is missed by the name of its Lease, with the flag to check", async () => {
  const { clock, hub, stopRenewing, connect } = await agentOnHub("paris");
  stopRenewing();
  hub.cluster.remove(LEASES, named(BROKER_LEASE));
  const reader = readerOf(await connect("berlin"));
  await clock.advance(20_000);
  expect(reader.ended()).toContain("there is no Lease resource-broker in namespace default");
  expect(reader.ended()).toMatch(/--broker-namespace.*a Go broker/);
});

test("a broker whose Lease is only old is not alive: a stream to it is not opened", async () => {
  const { clock, stopRenewing, connect } = await agentOnHub("paris");
  stopRenewing();
  const reader = readerOf(await connect("berlin"));
  await clock.advance(11_000);
  expect(reader.ended()).toContain("the broker showed no activity: nobody renews the Lease");
});
