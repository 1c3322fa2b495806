import {
  Fault,
  type FaultCode,
  type ProviderInstruction,
  type ReservationDTO,
} from "@resource-broker/contract";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import type { Occurrence } from "../events/tell.ts";
import { reservationBook } from "../reservations/reservation-book.ts";
import { fakeCluster } from "../testing/fake-cluster.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { aReservation, ended } from "../testing/samples.ts";
import { holdController, PROVIDER_INSTRUCTIONS } from "./hold-controller.ts";
import type { Room } from "./plan-hold.ts";

const { id } = aReservation();
const NAME = { name: `${id}-provider`, namespace: "default" };

function world() {
  const time = fakeClock(Date.parse("2026-07-01T10:00:05Z"));
  const cluster = fakeCluster(time);
  const book = reservationBook({ clusterId: "paris", now: time.wallMs });
  const events: Occurrence[] = [];
  const said: string[] = [];
  const delays: number[] = [];
  const state: {
    room: Room;
    answer: Fault | undefined;
    known: ReservationDTO | undefined;
    sees: boolean;
  } = { room: { kind: "fits" }, answer: undefined, known: aReservation(), sees: true };
  const find = (): ProviderInstruction | undefined => cluster.find(PROVIDER_INSTRUCTIONS, NAME);
  const say = async (text: string): Promise<void> => {
    said.push(text);
    if (state.answer !== undefined) throw state.answer;
  };
  const controller = holdController({
    book,
    client: cluster.client,
    instruction: () => (state.sees ? find() : undefined),
    communicator: {
      acknowledge: (_, generation) => say(`held ${generation}`),
      refuse: (_, reason) => say(`refused: ${reason}`),
      fetchReservation: async () => state.known,
    },
    room: () => state.room,
    broker: () => ({ now: time.wallMs(), isSilent: false }),
    clock: time,
    tell: (occurrence) => void events.push(occurrence),
    log: recordedLog(),
    namespace: "default",
    advertisement: { apiVersion: "v1", kind: "Advertisement", metadata: { name: "a" } },
    onHeld: (delayMs) => void delays.push(delayMs),
  });
  return { time, cluster, book, events, said, delays, state, controller, find };
}

const granted = aReservation({
  status: { phase: "Reserved", message: "Hold", reservedAt: "2026-07-01T10:00:00Z" },
});

describe("holding", () => {
  test("writes the instruction, says it is enforced, and acknowledges, once", async () => {
    const { book, controller, said, find, delays, events, cluster } = world();
    book.learn("provider", granted);
    await controller.reconcile(id);
    expect(find()?.status?.enforced).toBe(true);
    expect(said).toEqual(["held 1"]);
    expect(delays).toEqual([5000]);
    expect(events.map(({ reason }) => reason)).toEqual(["HoldPlaced"]);
    const before = cluster.calls.length;
    await controller.reconcile(id);
    expect(said).toEqual(["held 1"]);
    expect(cluster.calls).toHaveLength(before);
  });

  test("counts from when it is written, though nobody has shown it yet", async () => {
    const { book, controller, state } = world();
    state.sees = false;
    book.learn("provider", granted);
    expect(controller.isHeld(id)).toBe(false);
    state.answer = new Fault("unreachable", "nobody answers");
    await expect(controller.reconcile(id)).rejects.toThrow("nobody answers");
    expect(controller.isHeld(id)).toBe(true);
    controller.forgetAcknowledgements();
    expect(controller.isHeld(id)).toBe(true);
  });

  test("is told again to a broker that lost its memory", async () => {
    const { book, controller, said } = world();
    book.learn("provider", granted);
    await controller.reconcile(id);
    controller.forgetAcknowledgements();
    await controller.reconcile(id);
    expect(said).toEqual(["held 1", "held 1"]);
  });

  test("waits while it is not known whether there is room", async () => {
    const { book, controller, state, find } = world();
    state.room = { kind: "unknown" };
    book.learn("provider", granted);
    expect((await controller.reconcile(id)).requeueAfterMs).toBeGreaterThan(0);
    expect(find()).toBeUndefined();
  });

  test("ends with a final phase", async () => {
    const { book, controller, find, events } = world();
    book.learn("provider", granted);
    await controller.reconcile(id);
    book.learn("provider", ended("Expired"));
    await controller.reconcile(id);
    expect(find()).toBeUndefined();
    expect(controller.isHeld(id)).toBe(false);
    expect(events.map(({ reason }) => reason)).toEqual(["HoldPlaced", "HoldRemoved"]);
    expect((await controller.reconcile(id)).requeueAfterMs).toBeUndefined();
  });
});

describe("an acknowledgement", () => {
  test.each<[FaultCode, ReservationDTO | undefined, string]>([
    ["unsupported", aReservation(), "confirmed"],
    ["not-found", undefined, "unknown"],
    ["ledger-conflict", undefined, "unknown"],
    ["ledger-conflict", aReservation({ generation: 2 }), "confirmed"],
  ])(
    "answered with %s, of a reservation that is now %o, leaves it held and %s",
    async (code, known, standing) => {
      const { book, controller, state, find } = world();
      state.answer = new Fault(code, code);
      state.known = known;
      book.learn("provider", granted);
      await controller.reconcile(id).catch(() => undefined);
      expect(find()).toBeDefined();
      expect(book.get("provider", id)?.standing).toBe(standing);
    },
  );

  test("that comes too late learns of the end, and nothing is held", async () => {
    const { book, controller, state, find } = world();
    state.answer = new Fault("already-ended", "it is Released");
    state.known = ended("ReleasedByRequester");
    book.learn("provider", granted);
    await controller.reconcile(id);
    expect(find()).toBeUndefined();
    expect(book.live("provider")).toEqual([]);
  });

  test.each<FaultCode>(["unreachable", "overloaded", "internal"])(
    "that fails with %s is said again",
    async (code) => {
      const { book, controller, state, said } = world();
      book.learn("provider", granted);
      state.answer = new Fault(code, code);
      await expect(controller.reconcile(id)).rejects.toThrow(code);
      state.answer = undefined;
      await controller.reconcile(id);
      expect(said).toEqual(["held 1", "held 1"]);
    },
  );
});

describe("a refusal", () => {
  test("is said with its reason, and nothing is written", async () => {
    const { book, controller, state, said, find, events } = world();
    state.room = { kind: "short", reason: "2 CPU less" };
    book.learn("provider", granted);
    await controller.reconcile(id);
    expect(said).toEqual(["refused: 2 CPU less"]);
    expect(find()).toBeUndefined();
    expect(events).toMatchObject([{ reason: "HoldRefused", about: { kind: "Advertisement" } }]);
  });

  test("that does not arrive is said again", async () => {
    const { book, controller, state, said, events } = world();
    state.room = { kind: "short", reason: "full" };
    state.answer = new Fault("unreachable", "nobody answers");
    book.learn("provider", granted);
    await expect(controller.reconcile(id)).rejects.toThrow("nobody answers");
    state.answer = undefined;
    await controller.reconcile(id);
    expect(said).toHaveLength(2);
    expect(events).toHaveLength(1);
  });
});
