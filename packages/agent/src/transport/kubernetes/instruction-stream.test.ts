import { Fault, RESERVATION_CONDITION } from "@resource-broker/contract";
import { type FakeTime, fakeTime } from "@resource-broker/testkit";
import { beforeEach, describe, expect, test } from "vitest";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "./resources.ts";
import { type FakeAgent, fakeAgent, readerOf } from "./testing/fake-agent.ts";
import { type FakeHub, fakeHub } from "./testing/fake-hub.ts";
import { NAMESPACE } from "./testing/issued-for.ts";
import { advertisementOf, reservationObject } from "./testing/objects.ts";

let clock: FakeTime;
let hub: FakeHub;
let paris: FakeAgent;
let die: () => void;
beforeEach(async () => {
  clock = fakeTime();
  hub = fakeHub(clock);
  die = hub.live();
  paris = await fakeAgent(hub, clock, "paris");
  await clock.advance(4000);
  return async () => {
    die();
    await paris.communicator.close();
  };
});
const put = (...object: Parameters<typeof reservationObject>) =>
  hub.cluster.put(RESERVATIONS, reservationObject(...object));
const named = (name: string) => ({ name, namespace: NAMESPACE });
const read = () => readerOf(paris.communicator);

describe("a stream", () => {
  test("begins with what is live in either role, and a sign of life", async () => {
    put("rsv-a");
    put("rsv-b", { phase: "Active" });
    put("rsv-c", { phase: "Released", reason: "Expired" });
    put("rsv-d", {}, { requesterID: "paris", targetClusterID: "rome" });
    put("rsv-e", {}, { targetClusterID: "berlin" });
    await clock.advance(0);
    const reader = read();
    expect(await reader.heard()).toEqual([
      "instruction rsv-a Reserved",
      "instruction rsv-b Active",
      "reservation rsv-d Reserved",
    ]);
    expect(reader.heartbeats()).toBe(1);
  });

  test("tells each state once, in order, however often the object is written", async () => {
    const reader = read();
    put("rsv-a");
    hub.tell("rsv-a", { message: "written again" });
    hub.tell("rsv-a", { phase: "Active", generation: 2 });
    hub.tell("rsv-a", { lastUpdateTime: "2026-01-05T12:00:00Z" });
    put("rsv-b");
    hub.tell("rsv-a", { phase: "Released", generation: 3, reason: "ReleasedByRequester" });
    expect(await reader.heard()).toEqual([
      "instruction rsv-a Reserved",
      "instruction rsv-a Active",
      "instruction rsv-b Reserved",
      "instruction rsv-a Released",
    ]);
  });

  test("says nothing of what is not decided, refused, a question, or forgotten by the broker", async () => {
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
    expect(await reader.heard()).toEqual([]);
  });

  test("takes an object that is deleted for no end, unless its last state was one", async () => {
    put("rsv-a");
    put("rsv-b");
    await clock.advance(0);
    const reader = read();
    await reader.heard();
    hub.cluster.remove(RESERVATIONS, named("rsv-a"));
    hub.cluster.setWatchLag(100);
    hub.tell("rsv-b", { phase: "Released", generation: 2, reason: "Expired" });
    hub.cluster.remove(RESERVATIONS, named("rsv-b"));
    await clock.advance(1000);
    expect(await reader.heard()).toEqual(["instruction rsv-b Released"]);
  });

  test("of a reservation under any name tells its name in the ledger", async () => {
    put("a-persons", { reservationID: "rsv-nobody-x" });
    const reader = read();
    expect(await reader.heard()).toEqual(["instruction rsv-nobody-x Reserved"]);
    await paris.communicator.acknowledge("rsv-nobody-x", 1);
    expect(hub.cluster.find(RESERVATIONS, named("a-persons"))?.status?.conditions).toMatchObject([
      { type: "ProviderHolding", status: "True" },
    ]);
  });

  test("leaves out what cannot be read, and says so once", async () => {
    const reader = read();
    put("rsv-a", {}, { requestedResources: { cpu: "much", memory: "1Gi" } });
    hub.tell("rsv-a", { message: "again" });
    put("rsv-b");
    expect(await reader.heard()).toEqual(["instruction rsv-b Reserved"]);
    expect(paris.logLines.filter((line) => line.includes("rsv-a"))).toHaveLength(1);
  });

  test("gives signs of life while all is well", async () => {
    const reader = read();
    await clock.advance(60_000);
    expect(reader.heartbeats()).toBeGreaterThan(5);
    expect(reader.ended()).toBeUndefined();
  });

  test("ends when the broker gives none", async () => {
    const reader = read();
    await clock.advance(0);
    die();
    await clock.advance(25_000);
    expect(reader.ended()).toContain("the API server answers, but the broker gave no sign of life");
  });

  test("ends when its watch may no longer be made, though the broker lives", async () => {
    const reader = read();
    await clock.advance(0);
    hub.cluster.setMishaps(({ verb, plural }) =>
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
    const fault = new Fault("forbidden", "user berlin may not list reservations");
    hub.cluster.setMishaps(({ plural }) => (plural === "reservations" ? { fault } : undefined));
    const berlin = await fakeAgent(hub, clock, "berlin");
    const reader = readerOf(berlin.communicator);
    await clock.advance(11_000);
    expect(reader.ended()).toContain("may not list reservations");
    await berlin.communicator.close();
  });

  test("has one reader at a time: a second one takes over, and hears what the first did not", async () => {
    const first = read();
    await first.heard();
    const second = read();
    put("rsv-a");
    expect(await second.heard()).toEqual(["instruction rsv-a Reserved"]);
    expect([first.ended(), await first.heard()]).toEqual(["", []]);
  });
});

describe("a stream that was interrupted", () => {
  test("goes on where it was cut, with what ended meanwhile, and without what was heard", async () => {
    put("rsv-a");
    put("rsv-b");
    await clock.advance(0);
    const before = read();
    await before.heard();
    hub.cluster.cutWatches();
    hub.tell("rsv-a", { phase: "Released", generation: 2, reason: "Expired" });
    put("rsv-c");
    await clock.advance(0);
    expect(before.ended()).toContain("broke");
    const after = read();
    await clock.advance(1000);
    expect(await after.heard()).toEqual(["instruction rsv-a Released", "instruction rsv-c Reserved"]);
  });

  test("hears again what it was told when it stopped", async () => {
    put("rsv-a");
    await clock.advance(0);
    const stopping = new AbortController();
    for await (const event of paris.communicator.watchInstructions(stopping.signal)) {
      if (event.kind === "instruction") break;
    }
    expect(await read().heard()).toEqual(["instruction rsv-a Reserved"]);
  });

  test("begins anew where the API server has forgotten what happened, ends included", async () => {
    put("rsv-a");
    put("rsv-b");
    await clock.advance(0);
    const reader = read();
    await reader.heard();
    let forgotten = 2;
    hub.cluster.setMishaps(({ verb, plural }) =>
      verb === "watch" && plural === "reservations" && forgotten-- > 0
        ? { fault: new Fault("gone", "too old resource version") }
        : undefined,
    );
    hub.cluster.cutWatches();
    hub.tell("rsv-a", { phase: "Released", generation: 2, reason: "Expired" });
    put("rsv-c");
    await clock.advance(0);
    const next = read();
    await clock.advance(5000);
    const heard = await next.heard();
    expect(heard[0]).toMatch(/^reset: the API server has forgotten/);
    // Each role has a watch of its own, and each may have to begin anew.
    const last = new Map(
      heard.filter((line) => !line.startsWith("reset")).map((line) => [line.split(" ")[1], line]),
    );
    expect([...last.values()].toSorted()).toEqual([
      "instruction rsv-a Released",
      "instruction rsv-b Reserved",
      "instruction rsv-c Reserved",
    ]);
  });

  test("ends when the broker has lost its memory, and begins anew with what the new one knows", async () => {
    put("rsv-a");
    put("rsv-b");
    await clock.advance(0);
    const before = read();
    await before.heard();
    die();
    hub.beat("led-2");
    await clock.advance(0);
    expect(before.ended()).toBe("");
    hub.tell("rsv-b", { ledgerID: "led-2" });
    await clock.advance(0);
    const after = read();
    expect(await after.heard()).toEqual([
      "reset: the broker has another ledger than before",
      "instruction rsv-b Reserved",
    ]);
  });

  test("begins anew where more happened than is kept for it, and still hears of ends", async () => {
    const before = read();
    await before.heard();
    before.stop();
    await clock.advance(0);
    put("rsv-z", { phase: "Released", reason: "Expired" });
    for (let index = 0; index < 1000; index++) put(`rsv-${index}`);
    await clock.advance(0);
    const heard = await read().heard();
    expect(heard[0]).toContain("reset: more than 1000 changes");
    expect(heard).toHaveLength(1002);
    expect(heard).toContain("instruction rsv-z Released");
    expect(heard).toContain("instruction rsv-999 Reserved");
  });
});

describe("capacity at risk", () => {
  const overcommitted = (clusterId: string, status: "True" | "False", message: string) =>
    hub.tellCluster(clusterId, (object) => ({
      ...object,
      status: {
        conditions: [
          { type: "Overcommitted", status, reason: "x", message, lastTransitionTime: "2026-01-05T12:00:00Z" },
        ],
      },
    }));
  const advertise = (clusterId: string) =>
    hub.cluster.put(CLUSTER_ADVERTISEMENTS, {
      apiVersion: "broker.fluidos.eu/v1alpha1",
      kind: "ClusterAdvertisement",
      metadata: named(`${clusterId}-adv`),
      spec: advertisementOf(clusterId),
    });

  test("is told when it begins and when it changes, not what was so before", async () => {
    advertise("paris");
    const reader = read();
    await reader.heard();
    overcommitted("paris", "True", "was so when it was first seen");
    expect(await reader.heard()).toEqual([]);
    overcommitted("paris", "False", "enough");
    overcommitted("paris", "True", "2 CPU less");
    overcommitted("paris", "True", "2 CPU less");
    overcommitted("paris", "True", "3 CPU less");
    expect(await reader.heard()).toEqual(["at-risk: paris: 2 CPU less", "at-risk: paris: 3 CPU less"]);
  });

  test("of a cluster that something is borrowed from is told while it is", async () => {
    advertise("rome");
    put("rsv-a", {}, { requesterID: "paris", targetClusterID: "rome" });
    await clock.advance(0);
    const reader = read();
    await reader.heard();
    overcommitted("rome", "False", "enough");
    overcommitted("rome", "True", "2 CPU less");
    expect(await reader.heard()).toEqual(["at-risk: rome: 2 CPU less"]);
    hub.tell("rsv-a", { phase: "Released", generation: 2, reason: "Expired" });
    await reader.heard();
    overcommitted("rome", "True", "3 CPU less");
    expect(await reader.heard()).toEqual([]);
  });
});
