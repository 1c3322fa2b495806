import { Fault, type FaultCode } from "@resource-broker/base";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import { describe, expect, test } from "vitest";
import type { ObjectEvent } from "../events/record-event.ts";
import type { Reservation } from "../reservations/reservation.ts";
import { reservationCache } from "../reservations/reservation-cache.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { aRequest, aReservation, ended, UID } from "../testing/samples.ts";
import { releaseController } from "./release-controller.ts";

const { id } = aReservation();

function world() {
  const cache = reservationCache({ clusterId: "rome", now: () => 0 });
  const events: ObjectEvent[] = [];
  const log = recordedLog();
  const calls: string[] = [];
  const state: { fault: Fault | undefined; after: Reservation | undefined } = {
    fault: undefined,
    after: ended("ReleasedByRequester"),
  };
  const call = async (text: string): Promise<void> => {
    calls.push(text);
    if (state.fault !== undefined) throw state.fault;
  };
  const controller = releaseController({
    cache,
    communicator: {
      release: (wanted) => call(`release ${wanted}`),
      releaseByKey: (key) => call(`close ${key}`),
      fetchReservation: async () => state.after,
    },
    recordEvent: (event) => void events.push(event),
    log,
  });
  const giveBack = (status?: ResourceRequest["status"]) =>
    controller.reconcile(controller.enqueue(aRequest(status === undefined ? {} : { status })));
  return { cache, events, log, calls, state, controller, giveBack };
}

const reserved = { phase: "Active", reservationName: id, attempts: 1 } as const;

describe("giving back", () => {
  test("releases what is known of the request, learns of the end, and reports it", async () => {
    const { cache, calls, events, giveBack } = world();
    cache.update("requester", aReservation());
    await giveBack(reserved);
    expect(calls).toEqual([`release ${id}`]);
    expect(cache.live("requester")).toEqual([]);
    expect(events).toMatchObject([{ reason: "Released", message: `released ${id}` }]);
  });

  test("releases what only the status names", async () => {
    const { calls, giveBack } = world();
    await giveBack(reserved);
    expect(calls).toEqual([`release ${id}`]);
  });

  test.each<[string, ResourceRequest["status"], string]>([
    ["that was never answered", undefined, `close ${UID}-1`],
    ["that is queued", { phase: "Pending", attempts: 3 }, `close ${UID}-4`],
  ])("of a request %s closes the key that may be under way", async (_, status, expected) => {
    const { calls, giveBack, events } = world();
    await giveBack(status);
    expect(calls).toEqual([expected]);
    expect(events).toEqual([]);
  });

  test.each<[string, ResourceRequest["status"]]>([
    ["Failed", { phase: "Failed", reason: "NoCapacity", attempts: 1 }],
    ["Released", { phase: "Released", reservationName: id, attempts: 1 }],
  ])("of a request that is %s needs nothing", async (_, status) => {
    const { calls, giveBack, events } = world();
    await giveBack(status);
    expect(calls).toEqual([]);
    expect(events).toEqual([]);
  });

  test("does not close the key of what it releases: a broker that forgot it could not adopt it", async () => {
    const { cache, calls, giveBack, state } = world();
    cache.update("requester", aReservation());
    state.after = undefined;
    await giveBack();
    expect(calls).toEqual([`release ${id}`]);
    expect(cache.live("requester")).toMatchObject([{ syncState: "unknown" }]);
  });

  test("of what a resync found works without the request", async () => {
    const { cache, calls, controller, events } = world();
    cache.update("requester", aReservation());
    await controller.reconcile(UID);
    expect(calls).toEqual([`release ${id}`]);
    expect(events).toEqual([]);
  });

  test.each<FaultCode>(["unreachable", "internal"])("that fails with %s is tried again", async (code) => {
    const { cache, calls, giveBack, state, controller } = world();
    cache.update("requester", aReservation());
    state.fault = new Fault(code, code);
    await expect(giveBack(reserved)).rejects.toThrow(code);
    state.fault = undefined;
    await controller.reconcile(UID);
    expect(calls).toEqual([`release ${id}`, `release ${id}`]);
    expect(cache.live("requester")).toEqual([]);
  });

  test("to a broker that takes no more closed keys continues", async () => {
    const { giveBack, state } = world();
    state.fault = new Fault("quota-exceeded", "too many keys");
    await expect(giveBack()).resolves.toEqual({});
  });

  test("to a broker that is too old is reported once", async () => {
    const { cache, giveBack, state, events, log, controller } = world();
    cache.update("requester", aReservation());
    state.fault = new Fault("unsupported", "an older broker");
    await giveBack(reserved);
    await controller.reconcile(UID);
    expect(events).toMatchObject([{ type: "Warning", reason: "ReleaseUnsupported" }]);
    expect(log.lines).toHaveLength(1);
  });
});
