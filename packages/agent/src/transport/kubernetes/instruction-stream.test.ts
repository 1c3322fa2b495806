import { Fault } from "@resource-broker/base";
import { RESERVATION_CONDITION } from "@resource-broker/contract/crd";
import { describe, expect, test } from "vitest";
import { RESERVATIONS } from "./manifests.ts";
import { listeningAgent } from "./testing/agent-on-hub.ts";
import { readerOf } from "./testing/fake-agent.ts";
import { named } from "./testing/objects.ts";

describe("a stream", () => {
  test("begins with what is live in either role, and a sign of life", async () => {
    const { clock, put, read } = await listeningAgent();
    put("rsv-a");
    put("rsv-b", { phase: "Active" });
    put("rsv-c", { phase: "Released", reason: "Expired" });
    put("rsv-d", {}, { requesterID: "paris", targetClusterID: "rome" });
    put("rsv-e", {}, { targetClusterID: "berlin" });
    await clock.advance(0);
    const reader = read();
    expect(await reader.received()).toEqual([
      "instruction rsv-a Reserved",
      "instruction rsv-b Active",
      "reservation rsv-d Reserved",
    ]);
    expect(reader.heartbeats()).toBe(1);
  });

  test("reports each state once, in order, however often the object is written", async () => {
    const { hub, put, read } = await listeningAgent();
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

  test("says nothing of what is not decided, refused, a question, or forgotten by the broker", async () => {
    const { put, read } = await listeningAgent();
    const reader = read();
    put("rsv-a", { phase: "Pending" });
    put("rsv-b", { phase: "Failed", reason: "NoCapacity" });
    put("quote-1", {}, { intent: "Quote" });
    const orphaned = {
      type: RESERVATION_CONDITION.orphaned,
      status: "True",
      reason: "x",
      message: "",
    } as const;
    put("rsv-c", { conditions: [{ ...orphaned, lastTransitionTime: "2026-01-05T12:00:00Z" }] });
    put("rsv-d", { ledgerID: "led-0" });
    expect(await reader.received()).toEqual([]);
  });

  test("takes an object that is deleted for no end, unless its last state was one", async () => {
    const { clock, hub, put, read } = await listeningAgent();
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
    const { hub, paris, put, read } = await listeningAgent();
    put("a-persons", { reservationID: "rsv-nobody-x" });
    const reader = read();
    expect(await reader.received()).toEqual(["instruction rsv-nobody-x Reserved"]);
    await paris.communicator.acknowledge("rsv-nobody-x", 1);
    expect(hub.cluster.find(RESERVATIONS, named("a-persons"))?.status?.conditions).toMatchObject([
      { type: "ProviderHolding", status: "True" },
    ]);
  });

  test("leaves out what cannot be read, and says so once", async () => {
    const { hub, paris, put, read } = await listeningAgent();
    const reader = read();
    put("rsv-a", {}, { requestedResources: { cpu: "much", memory: "1Gi" } });
    hub.writeReservation("rsv-a", { message: "again" });
    put("rsv-b");
    expect(await reader.received()).toEqual(["instruction rsv-b Reserved"]);
    expect(paris.logLines.filter((line) => line.includes("rsv-a"))).toHaveLength(1);
  });

  test("reports that capacity was freed, and to a reader that was away only once", async () => {
    const { clock, hub, put, read } = await listeningAgent();
    const away = read();
    await away.received();
    hub.free("2026-01-05T12:00:00Z");
    await clock.advance(2000);
    expect(await away.received()).toEqual(["freed: "]);
    away.stop();
    await clock.advance(0);
    for (const at of ["2026-01-05T12:00:02Z", "2026-01-05T12:00:04Z"]) {
      hub.free(at);
      await clock.advance(2000);
    }
    put("rsv-a");
    const back = read();
    expect(await back.received()).toEqual(["freed: ", "instruction rsv-a Reserved"]);
  });

  test("gives signs of life while all is well", async () => {
    const { clock, read } = await listeningAgent();
    const reader = read();
    await clock.advance(60_000);
    expect(reader.heartbeats()).toBeGreaterThan(5);
    expect(reader.ended()).toBeUndefined();
  });

  test("ends when the broker gives none", async () => {
    const { clock, stopRenewing, read } = await listeningAgent();
    const reader = read();
    await clock.advance(0);
    stopRenewing();
    await clock.advance(25_000);
    expect(reader.ended()).toContain("the API server answers, but the broker showed no activity");
  });

  test("ends when its watch may no longer be made, though the broker lives", async () => {
    const { clock, hub, read } = await listeningAgent();
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
    const { clock, hub, connect } = await listeningAgent();
    const fault = new Fault("forbidden", "user berlin may not list reservations");
    hub.cluster.setCallFaults(({ plural }) => (plural === "reservations" ? { fault } : undefined));
    const berlin = await connect("berlin");
    const reader = readerOf(berlin.communicator);
    await clock.advance(11_000);
    expect(reader.ended()).toContain("may not list reservations");
  });

  test("has one reader at a time: a second one takes over, and hears what the first did not", async () => {
    const { put, read } = await listeningAgent();
    const first = read();
    await first.received();
    const second = read();
    put("rsv-a");
    expect(await second.received()).toEqual(["instruction rsv-a Reserved"]);
    expect([first.ended(), await first.received()]).toEqual(["", []]);
  });
});
