import { Fault } from "@resource-broker/base";
import {
  RESERVATION_CONDITION,
  RESERVATION_FINALIZER,
  type Reservation,
} from "@resource-broker/contract/crd";
import { reservationNameFor } from "@resource-broker/domain";
import { sha256 } from "@resource-broker/runtime";
import { reservationBody } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import type { BrokerTransport } from "../broker-communicator.ts";
import { CLUSTER_ADVERTISEMENTS, RESERVATIONS } from "./manifests.ts";
import { agentOnHub, outcomeOf } from "./testing/agent-on-hub.ts";
import { advertisementOf, named } from "./testing/fake-hub.ts";

const KEY = "k";
const NAME = reservationNameFor("rome", KEY, sha256);
const GRANTED = { phase: "Reserved", generation: 1, createdAt: "2026-01-05T12:00:00.000Z" } as const;
const ORPHANED = {
  type: RESERVATION_CONDITION.orphaned,
  status: "True",
  reason: "x",
  message: "",
  lastTransitionTime: "2026-01-05T12:00:00Z",
} as const;

/** rome asks for one reservation, which paris can serve. */
async function oneRequest() {
  const { agent: rome, ...others } = await agentOnHub("rome");
  const { hub, objects } = others;
  return {
    ...others,
    rome,
    request: () => outcomeOf(rome.reserve(reservationBody({ cpu: 2, memoryGi: 4 }), KEY)),
    /** The broker grants what was asked for. */
    grant: () => hub.writeReservation(NAME, GRANTED, { targetClusterID: "paris" }),
    /** The only object there is. */
    only: (): Reservation => {
      const [object, ...more] = objects();
      if (object === undefined || more.length > 0) throw new Error(`there are ${objects().length} objects`);
      return object;
    },
    /** The broker answers something else than a reservation. */
    answer: (status: NonNullable<Reservation["status"]>): void => {
      const [object] = objects();
      hub.cluster.edit(RESERVATIONS, named(object?.metadata.name ?? ""), (before) => ({ ...before, status }));
    },
  };
}

describe("a call that something is in the way of", () => {
  test.each([
    ["409", "conflict"],
    ["a connection that breaks", "unreachable"],
  ] as const)("continues after %s", async (_, code) => {
    const { clock, hub, request, grant } = await oneRequest();
    let left = 6;
    hub.cluster.setCallFaults(({ verb }) =>
      verb !== "watch" && left-- > 0 ? { fault: new Fault(code, "not now") } : undefined,
    );
    const asked = request();
    await clock.advance(8000);
    grant();
    await clock.advance(0);
    expect(asked.value()?.id).toBe(NAME);
  });

  test("is unreachable when the API server is away, and says that it is this one", async () => {
    const { clock, hub, request } = await oneRequest();
    hub.cluster.down();
    const asked = request();
    await clock.advance(10_000);
    expect(asked.fault()).toBe(
      "unreachable: the API server of the broker's cluster (https://fake) cannot be used: connection refused",
    );
  });

  test("is unreachable when the broker is gone, though what it says is written", async () => {
    const { clock, stopRenewing, request, only } = await oneRequest();
    stopRenewing();
    await clock.advance(20_000);
    const asked = request();
    await clock.advance(0);
    expect(asked.fault()).toContain("the API server answers, but the broker showed no activity");
    expect(only().metadata.name).toBe(NAME);
  });

  test("says what may be wrong where the namespace or the kind is missing", async () => {
    const { clock, hub, rome, request } = await oneRequest();
    const fault = new Fault("not-found", 'namespaces "default" not found');
    hub.cluster.setCallFaults(({ verb }) => (verb === "create" || verb === "apply" ? { fault } : undefined));
    const calls = [request(), outcomeOf(rome.publish(advertisementOf("rome")))];
    await clock.advance(10_000);
    for (const { fault: shown } of calls) expect(shown()).toContain("--broker-namespace=default");
  });

  test("lists everything once, though the list broke off, and without what cannot be read", async () => {
    const { clock, hub, rome, put } = await oneRequest();
    for (const name of ["rsv-a", "rsv-b"]) put(name);
    put("rsv-c", {}, { requestedResources: { cpu: "much", memory: "1Gi" } });
    hub.breakNextList();
    const listed = outcomeOf(rome.listReservations("requester"));
    await clock.advance(1000);
    expect(listed.value()?.map(({ id }) => id)).toEqual(["rsv-a", "rsv-b"]);
  });
});

describe("a reservation that is asked for", () => {
  test("is not told before it is whole: the broker writes spec and status one after the other", async () => {
    const { clock, hub, request, grant } = await oneRequest();
    const asked = request();
    await clock.advance(0);
    hub.writeReservation(NAME, GRANTED);
    await clock.advance(0);
    expect(asked.isOver()).toBe(false);
    grant();
    await clock.advance(0);
    expect(asked.value()?.targetClusterID).toBe("paris");
  });

  test("whose create was answered by nobody is looked for before it is made again", async () => {
    const { clock, hub, request, grant } = await oneRequest();
    hub.cluster.setCallFaults(({ verb }) =>
      verb === "create" ? { isDone: true, fault: new Fault("unreachable", "connection reset") } : undefined,
    );
    const asked = request();
    await clock.advance(1000);
    grant();
    await clock.advance(1000);
    expect(asked.value()?.id).toBe(NAME);
    expect(hub.cluster.calls.filter(({ verb }) => verb === "create")).toHaveLength(1);
  });

  test("and refused says why, and can be asked for again with the same key", async () => {
    const { clock, hub, request, grant, found } = await oneRequest();
    const first = request();
    await clock.advance(0);
    const refusal = { reason: "NoCapacity", code: "no-capacity", message: "nothing fits" } as const;
    hub.writeReservation(NAME, { phase: "Failed", ...refusal, decisionID: "dec-1" });
    await clock.advance(0);
    expect(first.fault()).toBe("no-capacity: nothing fits");
    const { uid } = found(NAME)?.metadata ?? {};
    const second = request();
    await clock.advance(0);
    expect(found(NAME)?.metadata.uid).not.toBe(uid);
    expect(found(NAME)?.status).toBeUndefined();
    grant();
    await clock.advance(0);
    expect(second.value()?.status.phase).toBe("Reserved");
  });

  test("and deleted by hand afterwards is told as released", async () => {
    const { clock, hub, request, grant } = await oneRequest();
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
    hub.writeReservation(NAME, { phase: "Released", reason: "ReleasedByRequester", generation: 2 });
    hub.cluster.remove(RESERVATIONS, named(NAME));
    await clock.advance(0);
    expect(asked.value()?.status.phase).toBe("Released");
  });

  test("that a broker without memory orphaned is asked for again", async () => {
    const { clock, put, request, grant } = await oneRequest();
    put(NAME, { conditions: [ORPHANED] });
    const asked = request();
    await clock.advance(0);
    grant();
    await clock.advance(0);
    expect(asked.value()?.status.phase).toBe("Reserved");
  });

  test("and refused, is closed by its key itself: a refusal has bound nothing", async () => {
    const { clock, put, rome, only, answer } = await oneRequest();
    put(NAME, { phase: "Failed", reason: "NoCapacity" }, { key: KEY });
    const released = outcomeOf(rome.releaseByKey(KEY));
    await clock.advance(0);
    expect(only().spec.intent).toBe("Release");
    answer({ phase: "Failed", reason: "Invalid", code: "quota-exceeded", message: "too many" });
    await clock.advance(0);
    expect(released.fault()).toBe("quota-exceeded: too many");
  });
});

test("a hold that was not adopted is offered again: the other party may have spoken", async () => {
  const { clock, rome, only, answer } = await oneRequest();
  const offer = {
    id: "rsv-rome-x",
    requesterID: "rome",
    targetClusterID: "paris",
    createdAt: "2026-01-05T12:00:00Z",
    requestedResources: { cpu: "2", memory: "4Gi" },
    phase: "Reserved",
    generation: 1,
  } as const;
  const first = outcomeOf(rome.adopt({ reservations: [offer] }));
  await clock.advance(0);
  answer({ outcome: "waiting", message: "waits for paris" });
  await clock.advance(0);
  expect(first.value()?.results).toEqual([
    { id: "rsv-rome-x", outcome: "waiting", message: "waits for paris" },
  ]);
  const { uid } = only().metadata;
  const again = outcomeOf(rome.adopt({ reservations: [offer] }));
  await clock.advance(0);
  expect(only().metadata.uid).not.toBe(uid);
  expect(again.isOver()).toBe(false);
});

describe("what a party says", () => {
  const OF_BERLIN = { requesterID: "berlin", targetClusterID: "rome" };

  test("is written once, however often it is said", async () => {
    const { hub, rome, put, found } = await oneRequest();
    put("rsv-a", {}, OF_BERLIN);
    await rome.acknowledge("rsv-a", 1);
    await rome.acknowledge("rsv-a", 1);
    expect(found("rsv-a")?.status?.conditions).toMatchObject([{ type: "ProviderHolding", status: "True" }]);
    const writes = hub.cluster.calls.filter(({ verb }) => verb === "patch");
    expect(writes).toHaveLength(1);
  });

  test("is written again when it says something else", async () => {
    const { clock, rome, put, found } = await oneRequest();
    put("rsv-a", {}, OF_BERLIN);
    for (const message of ["no node is free", "the disk is full"]) {
      outcomeOf(rome.refuse("rsv-a", message));
      await clock.advance(0);
      expect(found("rsv-a")?.status?.conditions).toMatchObject([{ type: "ProviderHolding", message }]);
    }
  });

  test.each<[string, (rome: BrokerTransport) => Promise<unknown>]>([
    ["activates", ({ activate }) => activate("rsv-a")],
    ["releases", ({ release }) => release("rsv-a")],
  ])("is not that of the other: who lends never %s", async (_, call) => {
    const { rome, put } = await oneRequest();
    put("rsv-a", {}, OF_BERLIN);
    await expect(call(rome)).rejects.toMatchObject({ code: "forbidden" });
  });

  test("about what is deleted meanwhile comes to nothing", async () => {
    const { clock, hub, rome, put } = await oneRequest();
    put("rsv-a");
    const activation = outcomeOf(rome.activate("rsv-a"));
    const release = outcomeOf(rome.release("rsv-a"));
    await clock.advance(0);
    hub.cluster.remove(RESERVATIONS, named("rsv-a"));
    await clock.advance(0);
    expect(activation.fault()).toContain("not-found");
    expect([release.isOver(), release.fault()]).toEqual([true, undefined]);
  });
});

describe("an advertisement", () => {
  test("is counted where its maker does not count, and never taken for an earlier one", async () => {
    const { clock, hub, rome } = await oneRequest();
    const published = [1, 2].map(() => outcomeOf(rome.publish(advertisementOf("rome"))));
    await clock.advance(0);
    hub.writeAdvertisement("rome", (object) => {
      const brokers = { reserved: { cpu: "2", memory: "1Gi" }, available: { cpu: "14", memory: "63Gi" } };
      const { instance = "", sequence, timestamp } = object.spec;
      const accepted = { instance, sequence: sequence ?? 0, timestamp, at: "2026-01-05T13:00:00.000Z" };
      const resources = { ...object.spec.resources, ...brokers };
      return { ...object, spec: { ...object.spec, resources }, status: { accepted } };
    });
    await clock.advance(0);
    expect(hub.cluster.find(CLUSTER_ADVERTISEMENTS, named("rome-adv"))?.spec.sequence).toBe(2);
    expect(published.map(({ isOver }) => isOver())).toEqual([false, true]);
  });

  test("that the Go broker's definition refuses names the way that works", async () => {
    const { clock, hub, rome } = await oneRequest();
    const message =
      'ClusterAdvertisement.broker.fluidos.eu "rome-adv" is invalid: spec.resources.available: Required value';
    hub.cluster.setCallFaults(({ verb }) =>
      verb === "apply" ? { fault: new Fault("invalid", message) } : undefined,
    );
    const published = outcomeOf(rome.publish(advertisementOf("rome")));
    await clock.advance(0);
    expect(published.fault()).toMatch(/^unsupported: .*--broker-transport=http/);
  });

  test("that the broker refuses is a fault of the same code", async () => {
    const { clock, hub, rome } = await oneRequest();
    const counted = { instance: "old", sequence: 7 };
    const published = outcomeOf(rome.publish({ ...advertisementOf("rome"), ...counted }));
    await clock.advance(0);
    const refused = { ...counted, timestamp: "", code: "superseded", message: "another speaks" };
    hub.writeAdvertisement("rome", (object) => ({ ...object, status: { refused } }));
    await clock.advance(0);
    expect(published.fault()).toBe("superseded: another speaks");
  });
});
