import { Fault } from "@resource-broker/base";
import { RESERVATION_CONDITION, RESERVATION_FINALIZER } from "@resource-broker/contract/crd";
import { describe, expect, test } from "vitest";
import { RESERVATIONS } from "./manifests.ts";
import { GRANTED, KEY, NAME, oneRequest, REQUEST } from "./testing/agent-on-hub.ts";
import { outcomeOf } from "./testing/fake-agent.ts";
import { named, reservationObject } from "./testing/objects.ts";

describe("a reservation that is asked for", () => {
  test("is one object, named by its key, and answered when the broker has decided", async () => {
    const { clock, hub, request, grant } = await oneRequest();
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

  test("by an agent that crashed after the create is found again", async () => {
    const { clock, rome, connect, request, grant, objects } = await oneRequest();
    const crashed = request();
    await clock.advance(0);
    await rome.communicator.close();
    await clock.advance(0);
    expect(crashed.fault()).toBe("unreachable: the connection to the broker is closed");
    grant();
    const asked = request(await connect("rome"));
    await clock.advance(2000);
    expect(asked.value()?.id).toBe(NAME);
    expect(objects()).toEqual([NAME]);
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

  test("by two processes at once is one", async () => {
    const { clock, rome, connect, request, grant, objects } = await oneRequest();
    const both = [rome, await connect("rome")].map((each) => request(each));
    await clock.advance(2000);
    grant();
    await clock.advance(0);
    expect(both.map(({ value }) => value()?.id)).toEqual([NAME, NAME]);
    expect(objects()).toEqual([NAME]);
  });

  test("and refused says why, and can be asked for again with the same key", async () => {
    const { clock, hub, request, grant } = await oneRequest();
    const first = request();
    await clock.advance(0);
    const refusal = {
      phase: "Failed",
      reason: "NoCapacity",
      code: "no-capacity",
      message: "nothing fits",
    } as const;
    hub.writeReservation(NAME, { ...refusal, decisionID: "dec-1" });
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
    const { clock, hub, request } = await oneRequest();
    const both = [request(), request()];
    await clock.advance(0);
    hub.writeReservation(NAME, {
      phase: "Failed",
      reason: "Invalid",
      code: "ttl-too-long",
      message: "too long",
    });
    await clock.advance(0);
    expect(both.map(({ fault }) => fault())).toEqual(["ttl-too-long: too long", "ttl-too-long: too long"]);
  });

  test.each([
    {
      name: "another request",
      spec: { requestedResources: { cpu: "3", memory: "4Gi" } },
      code: "key-mismatch",
    },
    { name: "another target", changes: { targetClusterID: "berlin" }, code: "key-mismatch" },
    { name: "a released key", spec: { intent: "Release", key: KEY } as const, code: "key-released" },
  ])("under a key of $name is refused", async ({ spec = {}, changes = {}, code }) => {
    const { clock, hub, rome } = await oneRequest();
    hub.cluster.put(RESERVATIONS, reservationObject(NAME, {}, spec));
    const asked = outcomeOf(rome.communicator.requestReservation({ ...REQUEST, ...changes }, KEY));
    await clock.advance(0);
    expect(asked.fault()).toContain(`${code}: the key "k"`);
  });

  test("written otherwise is the same one", async () => {
    const { clock, hub, request } = await oneRequest();
    hub.cluster.put(
      RESERVATIONS,
      reservationObject(NAME, {}, { requestedResources: { cpu: "2000m", memory: "4096Mi" } }),
    );
    const asked = request();
    await clock.advance(0);
    expect(asked.value()?.requestedResources).toEqual({ cpu: "2", memory: "4Gi" });
  });

  test("and deleted by hand before it was decided is asked for again", async () => {
    const { clock, hub, request, grant, objects } = await oneRequest();
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
    const { clock, hub, request, grant } = await oneRequest();
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
