import { Fault } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import { gate } from "../../testing/call-fault.ts";
import { RESERVATIONS } from "./manifests.ts";
import { NAME, oneRequest } from "./testing/agent-on-hub.ts";
import { outcomeOf } from "./testing/fake-agent.ts";
import { advertisementOf, reservationObject } from "./testing/objects.ts";

describe("a call that something is in the way of", () => {
  const faults = [
    ["409", "conflict"],
    ["429", "rate-limited"],
    ["500", "overloaded"],
    ["a connection that breaks", "unreachable"],
  ] as const;
  test.each(faults)("continues after %s", async (_, code) => {
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

  test("is unreachable when the API server takes too long", async () => {
    const { clock, hub, request } = await oneRequest();
    const never = gate();
    hub.cluster.setCallFaults(({ verb }) => (verb === "get" ? { until: never.passed } : undefined));
    const asked = request();
    await clock.advance(10_000);
    // The fake does not heed signals as a real connection does.
    never.open();
    await clock.advance(0);
    expect(asked.fault()).toContain("unreachable: ");
  });

  test("is unreachable when the broker is gone, though what it says is written", async () => {
    const { clock, stopRenewing, request, objects } = await oneRequest();
    stopRenewing();
    await clock.advance(20_000);
    const asked = request();
    await clock.advance(0);
    expect(asked.fault()).toContain("the API server answers, but the broker showed no activity");
    expect(objects()).toEqual([NAME]);
  });

  test("is unreachable when the broker lives and does not answer", async () => {
    const { clock, request } = await oneRequest();
    const asked = request();
    await clock.advance(10_000);
    expect(asked.fault()).toBe("unreachable: the broker is alive, but did not answer in time");
  });

  test("is answered though its watch was cut", async () => {
    const { clock, hub, request, grant } = await oneRequest();
    hub.cluster.setCallFaults(({ verb }) =>
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
    const { clock, hub, request } = await oneRequest();
    const fault = new Fault("forbidden", "user rome may not create reservations");
    hub.cluster.setCallFaults(({ verb }) => (verb === "create" ? { fault } : undefined));
    const asked = request();
    await clock.advance(0);
    expect(asked.fault()).toBe("forbidden: user rome may not create reservations");
  });

  test("says what may be wrong where the namespace or the kind is missing", async () => {
    const { clock, hub, rome, request } = await oneRequest();
    const fault = new Fault("not-found", 'namespaces "default" not found');
    hub.cluster.setCallFaults(({ verb }) => (verb === "create" || verb === "apply" ? { fault } : undefined));
    const calls = [request(), outcomeOf(rome.communicator.publishAdvertisement(advertisementOf("rome")))];
    await clock.advance(10_000);
    for (const { fault: shown } of calls) expect(shown()).toContain("--broker-namespace=default");
  });

  test("lists everything once, though the list broke off, and without what cannot be read", async () => {
    const { clock, hub, rome } = await oneRequest();
    for (const name of ["rsv-a", "rsv-b"]) hub.cluster.put(RESERVATIONS, reservationObject(name));
    const unreadable = { requestedResources: { cpu: "much", memory: "1Gi" } };
    hub.cluster.put(RESERVATIONS, reservationObject("rsv-c", {}, unreadable));
    hub.breakNextList();
    const listed = outcomeOf(rome.communicator.fetchReservations("requester"));
    await clock.advance(1000);
    expect(listed.value()?.map(({ id }) => id)).toEqual(["rsv-a", "rsv-b"]);
  });

  test("reads nothing that no living broker vouches for", async () => {
    const { clock, hub, rome, stopRenewing } = await oneRequest();
    hub.cluster.put(RESERVATIONS, reservationObject("rsv-a"));
    const alive = outcomeOf(rome.communicator.fetchReservations("requester"));
    await clock.advance(0);
    expect(alive.value()).toHaveLength(1);
    stopRenewing();
    await clock.advance(20_000);
    const dead = outcomeOf(rome.communicator.fetchReservations("requester"));
    await clock.advance(0);
    expect(dead.fault()).toContain("showed no activity");
  });
});
