import { Fault, type FaultCode } from "@resource-broker/base";
import type { ProviderInstruction } from "@resource-broker/contract/crd";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import type { ObjectEvent } from "../events/record-event.ts";
import { PROVIDER_INSTRUCTIONS } from "../manifests/labels.ts";
import type { Reservation } from "../reservations/reservation.ts";
import { reservationCache } from "../reservations/reservation-cache.ts";
import { fakeCluster } from "../testing/fake-cluster.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { aReservation, ended } from "../testing/samples.ts";
import type { CapacityCheck } from "./plan-provider-instruction.ts";
import { providerInstructionController } from "./provider-instruction-controller.ts";

const { id } = aReservation();
const NAME = { name: `${id}-provider`, namespace: "default" };

function world() {
  const time = fakeClock(Date.parse("2026-07-01T10:00:05Z"));
  const cluster = fakeCluster(time);
  const cache = reservationCache({ clusterId: "paris", now: time.wallMs });
  const events: ObjectEvent[] = [];
  const shown: string[] = [];
  const delays: number[] = [];
  const state: {
    room: CapacityCheck;
    answer: Fault | undefined;
    known: Reservation | undefined;
    sees: boolean;
  } = { room: { kind: "fits" }, answer: undefined, known: aReservation(), sees: true };
  const find = (): ProviderInstruction | undefined => cluster.find(PROVIDER_INSTRUCTIONS, NAME);
  const record = async (text: string): Promise<void> => {
    shown.push(text);
    if (state.answer !== undefined) throw state.answer;
  };
  const controller = providerInstructionController({
    cache,
    client: cluster.client,
    instruction: () => (state.sees ? find() : undefined),
    communicator: {
      acknowledge: (_, generation) => record(`held ${generation}`),
      refuse: (_, reason) => record(`refused: ${reason}`),
      fetchReservation: async () => state.known,
    },
    checkCapacity: () => state.room,
    broker: () => ({ now: time.wallMs(), isSilent: false }),
    clock: time,
    recordEvent: (event) => void events.push(event),
    log: recordedLog(),
    namespace: "default",
    advertisement: { apiVersion: "v1", kind: "Advertisement", metadata: { name: "a" } },
    onHeld: (delayMs) => void delays.push(delayMs),
  });
  return { time, cluster, cache, events, shown, delays, state, controller, find };
}

const granted = aReservation({
  status: { phase: "Reserved", message: "Hold", reservedAt: "2026-07-01T10:00:00Z" },
});

describe("holding", () => {
  test("writes the instruction, says it is enforced, and acknowledges, once", async () => {
    const { cache, controller, shown, find, delays, events, cluster } = world();
    cache.update("provider", granted);
    await controller.reconcile(id);
    expect(find()?.status?.enforced).toBe(true);
    expect(shown).toEqual(["held 1"]);
    expect(delays).toEqual([5000]);
    expect(events.map(({ reason }) => reason)).toEqual(["HoldPlaced"]);
    const before = cluster.calls.length;
    await controller.reconcile(id);
    expect(shown).toEqual(["held 1"]);
    expect(cluster.calls).toHaveLength(before);
  });

  test("counts from when it is written, though nobody has shown it yet", async () => {
    const { cache, controller, state } = world();
    state.sees = false;
    cache.update("provider", granted);
    expect(controller.isHeld(id)).toBe(false);
    state.answer = new Fault("unreachable", "nobody answers");
    await expect(controller.reconcile(id)).rejects.toThrow("nobody answers");
    expect(controller.isHeld(id)).toBe(true);
    controller.forgetAcknowledgements();
    expect(controller.isHeld(id)).toBe(true);
  });

  test("is told again to a broker that lost its memory", async () => {
    const { cache, controller, shown } = world();
    cache.update("provider", granted);
    await controller.reconcile(id);
    controller.forgetAcknowledgements();
    await controller.reconcile(id);
    expect(shown).toEqual(["held 1", "held 1"]);
  });

  test("waits while it is not known whether there is room", async () => {
    const { cache, controller, state, find } = world();
    state.room = { kind: "unknown" };
    cache.update("provider", granted);
    expect((await controller.reconcile(id)).requeueAfterMs).toBeGreaterThan(0);
    expect(find()).toBeUndefined();
  });

  test("ends with a final phase", async () => {
    const { cache, controller, find, events } = world();
    cache.update("provider", granted);
    await controller.reconcile(id);
    cache.update("provider", ended("Expired"));
    await controller.reconcile(id);
    expect(find()).toBeUndefined();
    expect(controller.isHeld(id)).toBe(false);
    expect(events.map(({ reason }) => reason)).toEqual(["HoldPlaced", "HoldRemoved"]);
    expect((await controller.reconcile(id)).requeueAfterMs).toBeUndefined();
  });
});

describe("an acknowledgement", () => {
  test.each<[FaultCode, Reservation | undefined, string]>([
    ["unsupported", aReservation(), "confirmed"],
    ["not-found", undefined, "unknown"],
    ["ledger-conflict", undefined, "unknown"],
    ["ledger-conflict", aReservation({ generation: 2 }), "confirmed"],
  ])(
    "answered with %s, of a reservation that is now %o, leaves it held and %s",
    async (code, known, syncState) => {
      const { cache, controller, state, find } = world();
      state.answer = new Fault(code, code);
      state.known = known;
      cache.update("provider", granted);
      await controller.reconcile(id).catch(() => undefined);
      expect(find()).toBeDefined();
      expect(cache.get("provider", id)?.syncState).toBe(syncState);
    },
  );

  test("that comes too late learns of the end, and nothing is held", async () => {
    const { cache, controller, state, find } = world();
    state.answer = new Fault("already-ended", "it is Released");
    state.known = ended("ReleasedByRequester");
    cache.update("provider", granted);
    await controller.reconcile(id);
    expect(find()).toBeUndefined();
    expect(cache.live("provider")).toEqual([]);
  });

  test.each<FaultCode>(["unreachable", "overloaded", "internal"])(
    "that fails with %s is said again",
    async (code) => {
      const { cache, controller, state, shown } = world();
      cache.update("provider", granted);
      state.answer = new Fault(code, code);
      await expect(controller.reconcile(id)).rejects.toThrow(code);
      state.answer = undefined;
      await controller.reconcile(id);
      expect(shown).toEqual(["held 1", "held 1"]);
    },
  );
});

describe("a refusal", () => {
  test("is said with its reason, and nothing is written", async () => {
    const { cache, controller, state, shown, find, events } = world();
    state.room = { kind: "short", reason: "2 CPU less" };
    cache.update("provider", granted);
    await controller.reconcile(id);
    expect(shown).toEqual(["refused: 2 CPU less"]);
    expect(find()).toBeUndefined();
    expect(events).toMatchObject([{ reason: "HoldRefused", regarding: { kind: "Advertisement" } }]);
  });

  test("that does not arrive is said again", async () => {
    const { cache, controller, state, shown, events } = world();
    state.room = { kind: "short", reason: "full" };
    state.answer = new Fault("unreachable", "nobody answers");
    cache.update("provider", granted);
    await expect(controller.reconcile(id)).rejects.toThrow("nobody answers");
    state.answer = undefined;
    await controller.reconcile(id);
    expect(shown).toHaveLength(2);
    expect(events).toHaveLength(1);
  });
});
