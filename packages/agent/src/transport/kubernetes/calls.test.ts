import { Fault, RESERVATION_CONDITION, RESERVATION_FINALIZER } from "@resource-broker/contract";
import { reservationNameFor } from "@resource-broker/runtime";
import { type FakeTime, fakeTime, reservationBody } from "@resource-broker/testkit";
import { beforeEach, describe, expect, test } from "vitest";
import type { Contact } from "../broker-communicator.ts";
import { gate } from "../../testing/mishap.ts";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "./resources.ts";
import { type FakeAgent, fakeAgent, outcomeOf } from "./testing/fake-agent.ts";
import { type FakeHub, fakeHub } from "./testing/fake-hub.ts";
import { NAMESPACE } from "./testing/issued-for.ts";
import { advertisementOf, reservationObject } from "./testing/objects.ts";

const KEY = "k";
const NAME = reservationNameFor("rome", KEY);
const REQUEST = reservationBody({ cpu: 2, memoryGi: 4 });
const GRANTED = { phase: "Reserved", generation: 1, createdAt: "2026-01-05T12:00:00.000Z" } as const;

let clock: FakeTime;
let hub: FakeHub;
let rome: FakeAgent;
let die: () => void;
beforeEach(async () => {
  clock = fakeTime();
  hub = fakeHub(clock);
  die = hub.live();
  rome = await fakeAgent(hub, clock, "rome");
  await clock.advance(4000);
  return async () => {
    die();
    await rome.communicator.close();
  };
});
const named = (name: string) => ({ name, namespace: NAMESPACE });
const objects = () => hub.cluster.all(RESERVATIONS).map(({ metadata }) => metadata.name);
const request = () => outcomeOf(rome.communicator.requestReservation(REQUEST, KEY));
const grant = (): void => hub.tell(NAME, GRANTED, { targetClusterID: "paris" });

describe("a reservation that is asked for", () => {
  test("is one object, named by its key, and answered when the broker has decided", async () => {
    const asked = request();
    await clock.advance(0);
    expect(hub.cluster.find(RESERVATIONS, named(NAME))).toMatchObject({
      metadata: { labels: { "broker.fluidos.eu/requester": "rome" } },
      spec: { requesterID: "rome", key: KEY, requestedResources: { cpu: "2", memory: "4Gi" } },
    });
    expect(asked.isOver()).toBe(false);
    grant();
    await clock.advance(0);
    expect(asked.value()).toMatchObject({
      id: NAME,
      key: KEY,
      targetClusterID: "paris",
      status: { phase: "Reserved", message: "Use paris for 2 CPU / 4Gi Memory" },
    });
  });

  test("is not told before it is whole: the broker writes spec and status one after the other", async () => {
    const asked = request();
    await clock.advance(0);
    hub.tell(NAME, GRANTED);
    await clock.advance(0);
    expect(asked.isOver()).toBe(false);
    grant();
    await clock.advance(0);
    expect(asked.value()?.targetClusterID).toBe("paris");
  });

  test("by an agent that crashed after the create is found again", async () => {
    const crashed = request();
    await clock.advance(0);
    await rome.communicator.close();
    await clock.advance(0);
    expect(crashed.fault()).toBe("unreachable: the way to the broker was closed");
    grant();
    rome = await fakeAgent(hub, clock, "rome");
    const asked = request();
    await clock.advance(2000);
    expect(asked.value()?.id).toBe(NAME);
    expect(objects()).toEqual([NAME]);
  });

  test("whose create was answered by nobody is looked for before it is made again", async () => {
    hub.cluster.setMishaps(({ verb }) =>
      verb === "create" ? { isDone: true, fault: new Fault("unreachable", "connection reset") } : undefined,
    );
    const asked = request();
    await clock.advance(1000);
    grant();
    await clock.advance(1000);
    expect(asked.value()?.id).toBe(NAME);
    expect(hub.cluster.calls.filter(({ verb }) => verb === "create")).toHaveLength(1);
  });

  test("by two processes at once is one", async () => {
    const other = await fakeAgent(hub, clock, "rome");
    const both = [rome, other].map(({ communicator }) =>
      outcomeOf(communicator.requestReservation(REQUEST, KEY)),
    );
    await clock.advance(2000);
    grant();
    await clock.advance(0);
    expect(both.map(({ value }) => value()?.id)).toEqual([NAME, NAME]);
    expect(objects()).toEqual([NAME]);
    await other.communicator.close();
  });

  test("and refused says why, and can be asked for again with the same key", async () => {
    const first = request();
    await clock.advance(0);
    const refusal = {
      phase: "Failed",
      reason: "NoCapacity",
      code: "no-capacity",
      message: "nothing fits",
    } as const;
    hub.tell(NAME, { ...refusal, decisionID: "dec-1" });
    await clock.advance(0);
    expect(first.fault()).toBe("no-capacity: nothing fits");
    const { uid } = hub.cluster.find(RESERVATIONS, named(NAME))?.metadata ?? {};
    const second = request();
    await clock.advance(0);
    const anew = hub.cluster.find(RESERVATIONS, named(NAME));
    expect(anew?.metadata.uid).not.toBe(uid);
    expect(anew?.status).toBeUndefined();
    grant();
    await clock.advance(0);
    expect(second.value()?.status.phase).toBe("Reserved");
  });

  test("that is refused while another call waits for it is refused for both", async () => {
    const both = [request(), request()];
    await clock.advance(0);
    hub.tell(NAME, { phase: "Failed", reason: "Invalid", code: "ttl-too-long", message: "too long" });
    await clock.advance(0);
    expect(both.map(({ fault }) => fault())).toEqual(["ttl-too-long: too long", "ttl-too-long: too long"]);
  });

  test.each([
    {
      name: "another request",
      spec: { requestedResources: { cpu: "3", memory: "4Gi" } },
      code: "key-mismatch",
    },
    { name: "another target", wish: { targetClusterID: "berlin" }, code: "key-mismatch" },
    { name: "a released key", spec: { intent: "Release", key: KEY } as const, code: "key-released" },
  ])("under a key of $name is refused", async ({ spec = {}, wish = {}, code }) => {
    hub.cluster.put(RESERVATIONS, reservationObject(NAME, {}, spec));
    const asked = outcomeOf(rome.communicator.requestReservation({ ...REQUEST, ...wish }, KEY));
    await clock.advance(0);
    expect(asked.fault()).toContain(`${code}: the key "k"`);
  });

  test("written otherwise is the same one", async () => {
    hub.cluster.put(
      RESERVATIONS,
      reservationObject(NAME, {}, { requestedResources: { cpu: "2000m", memory: "4096Mi" } }),
    );
    const asked = request();
    await clock.advance(0);
    expect(asked.value()?.requestedResources).toEqual({ cpu: "2", memory: "4Gi" });
  });

  test("and deleted by hand before it was decided is asked for again", async () => {
    const asked = request();
    await clock.advance(0);
    hub.cluster.remove(RESERVATIONS, named(NAME));
    await clock.advance(0);
    expect(objects()).toEqual([NAME]);
    grant();
    await clock.advance(0);
    expect(asked.value()?.id).toBe(NAME);
  });

  test("and deleted by hand afterwards is told as released", async () => {
    const asked = request();
    await clock.advance(0);
    const leaving = { deletionTimestamp: "2026-01-05T12:00:00Z", finalizers: [RESERVATION_FINALIZER] };
    hub.cluster.edit(RESERVATIONS, named(NAME), (object) => ({
      ...object,
      metadata: { ...object.metadata, ...leaving },
    }));
    grant();
    await clock.advance(0);
    expect(asked.isOver()).toBe(false);
    hub.tell(NAME, { phase: "Released", reason: "ReleasedByRequester", generation: 2 });
    hub.cluster.remove(RESERVATIONS, named(NAME));
    await clock.advance(0);
    expect(asked.value()?.status.phase).toBe("Released");
  });

  test("that a broker without memory orphaned is asked for again", async () => {
    const condition = {
      type: RESERVATION_CONDITION.orphaned,
      status: "True",
      reason: "x",
      message: "",
    } as const;
    const lastTransitionTime = "2026-01-05T12:00:00Z";
    const orphan = reservationObject(NAME, { conditions: [{ ...condition, lastTransitionTime }] });
    hub.cluster.put(RESERVATIONS, orphan);
    const asked = request();
    await clock.advance(0);
    grant();
    await clock.advance(0);
    expect(asked.value()?.status.phase).toBe("Reserved");
  });
});

describe("a call that something is in the way of", () => {
  const faults = [
    ["409", "conflict"],
    ["429", "rate-limited"],
    ["500", "overloaded"],
    ["a connection that breaks", "unreachable"],
  ] as const;
  test.each(faults)("goes on after %s", async (_, code) => {
    let left = 6;
    hub.cluster.setMishaps(({ verb }) =>
      verb !== "watch" && left-- > 0 ? { fault: new Fault(code, "not now") } : undefined,
    );
    const asked = request();
    await clock.advance(8000);
    grant();
    await clock.advance(0);
    expect(asked.value()?.id).toBe(NAME);
  });

  test("is unreachable when the API server is away, and says that it is this one", async () => {
    hub.cluster.down();
    const asked = request();
    await clock.advance(10_000);
    expect(asked.fault()).toBe(
      "unreachable: the API server of the broker's cluster (https://fake) does not serve us: connection refused",
    );
  });

  test("is unreachable when the API server takes too long", async () => {
    const never = gate();
    hub.cluster.setMishaps(({ verb }) => (verb === "get" ? { until: never.passed } : undefined));
    const asked = request();
    await clock.advance(10_000);
    // The fake does not heed signals as a real connection does.
    never.open();
    await clock.advance(0);
    expect(asked.fault()).toContain("unreachable: ");
  });

  test("is unreachable when the broker is gone, though what it says is written", async () => {
    die();
    await clock.advance(20_000);
    const asked = request();
    await clock.advance(0);
    expect(asked.fault()).toContain("the API server answers, but the broker gave no sign of life");
    expect(objects()).toEqual([NAME]);
  });

  test("is unreachable when the broker lives and does not answer", async () => {
    const asked = request();
    await clock.advance(10_000);
    expect(asked.fault()).toBe("unreachable: the broker lives, but did not answer in time");
  });

  test("is answered though its watch was cut", async () => {
    hub.cluster.setMishaps(({ verb }) =>
      verb === "watch" ? { fault: new Fault("unreachable", "connection reset") } : undefined,
    );
    hub.cluster.cutWatches();
    const asked = request();
    await clock.advance(0);
    grant();
    await clock.advance(3000);
    expect(asked.value()?.id).toBe(NAME);
  });

  test("is refused for good when a right is missing", async () => {
    const fault = new Fault("forbidden", "user rome may not create reservations");
    hub.cluster.setMishaps(({ verb }) => (verb === "create" ? { fault } : undefined));
    const asked = request();
    await clock.advance(0);
    expect(asked.fault()).toBe("forbidden: user rome may not create reservations");
  });

  test("says what may be wrong where the namespace or the kind is missing", async () => {
    const fault = new Fault("not-found", 'namespaces "default" not found');
    hub.cluster.setMishaps(({ verb }) => (verb === "create" || verb === "apply" ? { fault } : undefined));
    const calls = [request(), outcomeOf(rome.communicator.publishAdvertisement(advertisementOf("rome")))];
    await clock.advance(10_000);
    for (const { fault: said } of calls) expect(said()).toContain("--broker-namespace=default");
  });

  test("lists everything once, though the list broke off, and without what cannot be read", async () => {
    for (const name of ["rsv-a", "rsv-b"]) hub.cluster.put(RESERVATIONS, reservationObject(name));
    const unreadable = { requestedResources: { cpu: "much", memory: "1Gi" } };
    hub.cluster.put(RESERVATIONS, reservationObject("rsv-c", {}, unreadable));
    hub.breakNextList();
    const listed = outcomeOf(rome.communicator.fetchReservations("requester"));
    await clock.advance(1000);
    expect(listed.value()?.map(({ id }) => id)).toEqual(["rsv-a", "rsv-b"]);
  });

  test("reads nothing that no living broker vouches for", async () => {
    hub.cluster.put(RESERVATIONS, reservationObject("rsv-a"));
    const alive = outcomeOf(rome.communicator.fetchReservations("requester"));
    await clock.advance(0);
    expect(alive.value()).toHaveLength(1);
    die();
    await clock.advance(20_000);
    const dead = outcomeOf(rome.communicator.fetchReservations("requester"));
    await clock.advance(0);
    expect(dead.fault()).toContain("gave no sign of life");
  });
});

describe("what a party says", () => {
  const conditions = (name: string) =>
    hub.cluster
      .find(RESERVATIONS, named(name))
      ?.status?.conditions?.map(({ type, status }) => [type, status]);

  test("is written once, however often it is said", async () => {
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
    { name: "activates", does: () => rome.communicator.activate("rsv-a") },
    { name: "renews", does: () => rome.communicator.renew("rsv-a", "1h") },
    { name: "releases", does: () => rome.communicator.release("rsv-a") },
  ])("who lends never $name", async ({ does }) => {
    hub.cluster.put(
      RESERVATIONS,
      reservationObject("rsv-a", {}, { requesterID: "berlin", targetClusterID: "rome" }),
    );
    await expect(does()).rejects.toMatchObject({ code: "forbidden" });
  });

  test("who is no party knows nothing of it", async () => {
    hub.cluster.put(RESERVATIONS, reservationObject("rsv-a", {}, { requesterID: "berlin" }));
    const { activate, acknowledge, release, fetchReservation } = rome.communicator;
    await expect(activate("rsv-a")).rejects.toMatchObject({ code: "not-found" });
    await expect(acknowledge("rsv-a", 1)).rejects.toMatchObject({ code: "not-found" });
    await release("rsv-a");
    expect(await fetchReservation("rsv-a")).toBeUndefined();
    expect(conditions("rsv-a")).toBeUndefined();
  });

  test("a renewal that is refused says why", async () => {
    const expiresAt = "2026-01-05T12:10:00.000Z";
    hub.cluster.put(RESERVATIONS, reservationObject("rsv-a", { expiresAt }));
    const renewal = outcomeOf(rome.communicator.renew("rsv-a", "100h"));
    await clock.advance(0);
    const wish = hub.cluster.find(RESERVATIONS, named("rsv-a"))?.metadata.annotations?.[
      "broker.fluidos.eu/renew"
    ];
    expect(wish).toMatch(/^100h [0-9a-f]{16}$/);
    hub.tell("rsv-a", { renewed: wish ?? "", code: "ttl-too-long", explanation: "at most 24h" });
    await clock.advance(0);
    expect(renewal.fault()).toBe("ttl-too-long: at most 24h");
  });

  test("a renewal is told when the new end is there, too", async () => {
    hub.cluster.put(RESERVATIONS, reservationObject("rsv-a", { expiresAt: "2026-01-05T12:10:00.000Z" }));
    const renewal = outcomeOf(rome.communicator.renew("rsv-a", "2h"));
    await clock.advance(0);
    const { annotations } = hub.cluster.find(RESERVATIONS, named("rsv-a"))?.metadata ?? {};
    hub.tell("rsv-a", { renewed: annotations?.["broker.fluidos.eu/renew"] ?? "" });
    await clock.advance(0);
    expect(renewal.isOver()).toBe(false);
    hub.tell("rsv-a", { expiresAt: "2026-01-05T14:00:04.000Z", generation: 2 });
    await clock.advance(0);
    expect(renewal.value()?.status.expiresAt).toBe("2026-01-05T14:00:04.000Z");
  });

  test("about what is deleted meanwhile comes to nothing", async () => {
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

describe("an advertisement", () => {
  const advertise = (more = {}) =>
    outcomeOf(rome.communicator.publishAdvertisement({ ...advertisementOf("rome"), ...more }));
  const stored = () => hub.cluster.find(CLUSTER_ADVERTISEMENTS, named("rome-adv"));
  const accept = (): void =>
    hub.tellCluster("rome", (object) => {
      const { instance = "", sequence = 0, timestamp } = object.spec;
      const resources = { ...object.spec.resources, ...BROKERS };
      const accepted = { instance, sequence, timestamp, at: "2026-01-05T13:00:00.000Z" };
      return { ...object, spec: { ...object.spec, resources }, status: { accepted } };
    });
  const BROKERS = { reserved: { cpu: "2", memory: "1Gi" }, available: { cpu: "14", memory: "63Gi" } };

  test("leaves to the broker what only the broker knows, and is answered with it", async () => {
    const contacts: Contact[] = [];
    rome.communicator.onContact((contact) => contacts.push(contact));
    const published = advertise();
    await clock.advance(0);
    expect(Object.keys(stored()?.spec.resources ?? {})).toEqual(["capacity", "allocatable", "allocated"]);
    expect(published.isOver()).toBe(false);
    accept();
    await clock.advance(0);
    expect(published.value()?.advertisement.resources).toMatchObject(BROKERS);
    expect(contacts).toEqual([
      { ledgerId: "led-1", brokerTimeMs: Date.UTC(2026, 0, 5, 13), isCurrent: true },
    ]);
  });

  test("is counted where its maker does not count, and never taken for an earlier one", async () => {
    advertise();
    await clock.advance(0);
    accept();
    const second = advertise();
    await clock.advance(0);
    expect(stored()?.spec.sequence).toBe(2);
    expect(second.isOver()).toBe(false);
  });

  test("that the broker refuses is a fault of the same code", async () => {
    const published = advertise({ instance: "old", sequence: 7 });
    await clock.advance(0);
    hub.tellCluster("rome", (object) => {
      const refused = { instance: "old", sequence: 7, timestamp: object.spec.timestamp };
      return {
        ...object,
        status: { refused: { ...refused, code: "superseded", message: "another speaks" } },
      };
    });
    await clock.advance(0);
    expect(published.fault()).toBe("superseded: another speaks");
  });
});
