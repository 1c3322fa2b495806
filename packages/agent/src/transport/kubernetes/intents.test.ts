import { Fault } from "@resource-broker/base";
import type { DecisionDTO } from "@resource-broker/contract";
import type { Reservation } from "@resource-broker/contract/crd";
import { describe, expect, test } from "vitest";
import { RESERVATIONS } from "./manifests.ts";
import { KEY, NAME, oneRequest, REQUEST } from "./testing/agent-on-hub.ts";
import { type FakeAgent, outcomeOf } from "./testing/fake-agent.ts";
import { named, reservationObject } from "./testing/objects.ts";

const DECISION: DecisionDTO = {
  id: "dec-1",
  at: "2026-01-05T12:00:00.000Z",
  requesterID: "rome",
  request: REQUEST,
  policyVersion: "default",
  weights: {},
  currency: "EUR",
  winner: "paris",
  considered: 1,
  fitted: 1,
  counts: {},
  candidates: [],
  explanation: "paris fits",
};

const oneIntent = async () => {
  const { clock, hub, rome, request } = await oneRequest();
  const all = (): Reservation[] => hub.cluster.all(RESERVATIONS);
  const only = (): Reservation => {
    const [object, ...others] = all();
    if (object === undefined || others.length > 0) throw new Error(`there are ${all().length} objects`);
    return object;
  };
  /** The broker answers something else than a reservation. */
  const answer = (status: NonNullable<Reservation["status"]>): void => {
    const { name } = only().metadata;
    hub.cluster.edit(RESERVATIONS, named(name), (object) => ({ ...object, status }));
  };
  return { clock, hub, rome, request, all, only, answer };
};

describe("a quote", () => {
  test("is an object that is gone when it was answered", async () => {
    const { clock, rome, all, only, answer } = await oneIntent();
    const quote = outcomeOf(rome.communicator.quote(REQUEST));
    await clock.advance(0);
    expect(only()).toMatchObject({ spec: { intent: "Quote", requesterID: "rome" } });
    answer({ fits: true, decision: JSON.stringify(DECISION) });
    await clock.advance(0);
    expect(quote.value()).toEqual({ fits: true, targetClusterID: "paris", decision: DECISION });
    expect(all()).toEqual([]);
  });

  test("that the broker refuses is a fault, and gone as well", async () => {
    const { clock, rome, all, answer } = await oneIntent();
    const quote = outcomeOf(rome.communicator.quote(REQUEST));
    await clock.advance(0);
    answer({ fits: false, code: "ttl-too-long", message: "at most 24h" });
    await clock.advance(0);
    expect(quote.fault()).toBe("ttl-too-long: at most 24h");
    expect(all()).toEqual([]);
  });

  test("that nobody answers is taken back", async () => {
    const { clock, rome, all } = await oneIntent();
    const quote = outcomeOf(rome.communicator.quote(REQUEST));
    await clock.advance(10_000);
    expect(quote.fault()).toContain("unreachable");
    await clock.advance(0);
    expect(all()).toEqual([]);
  });

  test("that cannot be taken back is left to the broker, and said", async () => {
    const { clock, hub, rome, answer } = await oneIntent();
    const quote = outcomeOf(rome.communicator.quote(REQUEST));
    await clock.advance(0);
    hub.cluster.setCallFaults(({ verb }) =>
      verb === "delete" ? { fault: new Fault("forbidden", "no") } : undefined,
    );
    answer({ fits: true, decision: JSON.stringify(DECISION) });
    await clock.advance(0);
    expect(quote.value()?.fits).toBe(true);
    expect(rome.logLines.join()).toContain("left for the broker to remove");
  });
});

describe("a key that shall not be served", () => {
  const release = ({ communicator }: FakeAgent) => outcomeOf(communicator.releaseByKey(KEY));

  test("and was never used is closed by an object in the place of the request's", async () => {
    const { clock, rome, only, answer } = await oneIntent();
    const released = release(rome);
    await clock.advance(0);
    expect(only()).toMatchObject({ metadata: { name: NAME }, spec: { intent: "Release", key: KEY } });
    answer({ phase: "Released", reason: "ReleasedByRequester" });
    await clock.advance(0);
    expect([released.isOver(), released.fault()]).toEqual([true, undefined]);
  });

  test("of a request that waits is released there", async () => {
    const { clock, hub, rome, request, only } = await oneIntent();
    const asked = request();
    await clock.advance(0);
    const released = release(rome);
    await clock.advance(0);
    expect(only().status?.conditions).toMatchObject([{ type: "RequesterReleased", status: "True" }]);
    const ended = {
      phase: "Released",
      reason: "ReleasedByRequester",
      createdAt: "2026-01-05T12:00:00Z",
    } as const;
    hub.writeReservation(NAME, ended, { targetClusterID: "paris" });
    await clock.advance(0);
    expect([released.isOver(), released.fault()]).toEqual([true, undefined]);
    expect(asked.value()?.status.phase).toBe("Released");
  });

  test("of a request that was refused is closed itself: a refusal has bound nothing", async () => {
    const { clock, hub, rome, only, answer } = await oneIntent();
    hub.cluster.put(
      RESERVATIONS,
      reservationObject(NAME, { phase: "Failed", reason: "NoCapacity" }, { key: KEY }),
    );
    const released = release(rome);
    await clock.advance(0);
    expect(only().spec.intent).toBe("Release");
    answer({ phase: "Failed", reason: "Invalid", code: "quota-exceeded", message: "too many" });
    await clock.advance(0);
    expect(released.fault()).toBe("quota-exceeded: too many");
  });

  test("of what has ended is left as it is", async () => {
    const { clock, hub, rome, only } = await oneIntent();
    hub.cluster.put(
      RESERVATIONS,
      reservationObject(NAME, { phase: "Released", reason: "Expired" }, { key: KEY }),
    );
    const released = release(rome);
    await clock.advance(0);
    expect([released.isOver(), released.fault()]).toEqual([true, undefined]);
    expect(only().status?.conditions).toBeUndefined();
  });
});

describe("a hold that the broker has forgotten", () => {
  const held = {
    id: "rsv-rome-x",
    requesterID: "rome",
    targetClusterID: "paris",
    createdAt: "2026-01-05T12:00:00Z",
  };
  const offer = {
    ...held,
    requestedResources: { cpu: "2", memory: "4Gi" },
    phase: "Reserved",
    generation: 1,
  } as const;
  const adopt = ({ communicator }: FakeAgent) => outcomeOf(communicator.adopt({ reservations: [offer] }));

  test("is offered by an object that names who offers it", async () => {
    const { clock, rome, only, answer } = await oneIntent();
    const adoption = adopt(rome);
    await clock.advance(0);
    expect(only()).toMatchObject({
      metadata: { name: "rsv-rome-x-offer-rome" },
      spec: {
        intent: "Adopt",
        requesterID: "rome",
        targetClusterID: "paris",
        offer: { id: "rsv-rome-x", by: "rome", phase: "Reserved", generation: 1 },
      },
    });
    answer({ outcome: "waiting", message: "waits for paris" });
    await clock.advance(0);
    expect(adoption.value()).toEqual({
      results: [{ id: "rsv-rome-x", outcome: "waiting", message: "waits for paris" }],
    });
  });

  test("is offered again when it was not adopted: the other party may have spoken", async () => {
    const { clock, rome, only, answer } = await oneIntent();
    adopt(rome);
    await clock.advance(0);
    answer({ outcome: "waiting", message: "" });
    await clock.advance(0);
    const { uid } = only().metadata;
    const again = adopt(rome);
    await clock.advance(0);
    expect(only().metadata.uid).not.toBe(uid);
    expect(again.isOver()).toBe(false);
  });

  test("is reported whole when it is in the ledger again", async () => {
    const { clock, hub, rome, answer } = await oneIntent();
    const adoption = adopt(rome);
    await clock.advance(0);
    answer({ outcome: "adopted", message: "It is in the ledger." });
    await clock.advance(0);
    expect(adoption.isOver()).toBe(false);
    hub.cluster.put(RESERVATIONS, reservationObject("rsv-rome-x"));
    await clock.advance(0);
    expect(adoption.value()?.results).toMatchObject([
      { outcome: "adopted", reservation: { id: "rsv-rome-x", status: { phase: "Reserved" } } },
    ]);
  });

  test("among many is answered in its place", async () => {
    const { clock, hub, rome, all } = await oneIntent();
    const many = Array.from({ length: 20 }, (_, index) => ({ ...offer, id: `rsv-rome-${index}` }));
    const adoption = outcomeOf(rome.communicator.adopt({ reservations: many }));
    for (let round = 0; round < 20; round++) {
      await clock.advance(0);
      for (const { metadata, spec, status } of all()) {
        if (status?.outcome !== undefined) continue;
        const message = spec.offer?.id ?? "";
        hub.cluster.edit(RESERVATIONS, named(metadata.name), (object) => ({
          ...object,
          status: { outcome: "waiting" as const, message },
        }));
      }
    }
    await clock.advance(0);
    expect(adoption.value()?.results.map(({ id, message }) => [id, message])).toEqual(
      many.map(({ id }) => [id, id]),
    );
  });
});
