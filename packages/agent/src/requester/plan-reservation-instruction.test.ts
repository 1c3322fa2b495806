import { describe, expect, test } from "vitest";
import { reservationFromInstruction, reservationInstruction } from "../manifests/instructions.ts";
import type { Reservation } from "../reservations/reservation.ts";
import type { CachedReservation } from "../reservations/reservation-cache.ts";
import { aRequest, aReservation, aWireReservation, ended, UID } from "../testing/samples.ts";
import {
  planReservationInstruction,
  type ReservationInstructionState,
} from "./plan-reservation-instruction.ts";

const NOW = Date.parse("2026-07-01T10:00:00Z");

function entry(reservation: Reservation, changes: Partial<CachedReservation> = {}): CachedReservation {
  const endedAt = reservation.endReason === undefined ? undefined : NOW;
  return { role: "requester", reservation, syncState: "confirmed", endedAt, ...changes };
}

function state(changes: Partial<ReservationInstructionState> = {}): ReservationInstructionState {
  return {
    entry: entry(aReservation()),
    instruction: undefined,
    namespace: "default",
    request: aRequest(),
    isOrphan: false,
    isTornDown: false,
    broker: { now: NOW, isSilent: false },
    ...changes,
  };
}

const written = reservationInstruction(aReservation(), "default", aRequest());
const kinds = (changes: Partial<ReservationInstructionState>) =>
  planReservationInstruction(state(changes)).actions.map(({ kind }) => kind);

describe("a reservation of this cluster", () => {
  test("becomes an instruction and is delivered", () => {
    expect(kinds({})).toEqual(["apply", "deliver"]);
    expect(kinds({ instruction: written })).toEqual(["deliver"]);
  });

  test("keeps the slice defaults that its instruction has, also none", () => {
    const received = aReservation({ sliceDefaults: { pods: 50, ephemeralStorage: "5Gi" } });
    expect(kinds({ entry: entry(received), instruction: written })).toEqual(["deliver"]);
    const instruction = reservationInstruction(received, "default", aRequest());
    expect(kinds({ instruction })).toEqual(["deliver"]);
  });

  test("made by an admin becomes an instruction of nobody", () => {
    const [put] = planReservationInstruction(state({ request: undefined })).actions;
    expect(put?.kind === "apply" && put.instruction.metadata.ownerReferences).toBeUndefined();
  });

  test("is withdrawn when it ended", () => {
    expect(kinds({ entry: entry(ended("Expired")), instruction: written })).toEqual(["tear-down"]);
    expect(kinds({ entry: entry(ended("Expired")), isTornDown: true })).toEqual([]);
  });

  test("is withdrawn though the garbage collector was faster with its instruction", () => {
    expect(kinds({ entry: entry(ended("Expired")) })).toEqual(["tear-down"]);
    expect(kinds({ isOrphan: true })).toEqual(["tear-down"]);
  });

  test("whose instruction outlived its data plane is withdrawn all the same", () => {
    expect(kinds({ entry: entry(ended("Expired")), instruction: written, isTornDown: true })).toEqual([
      "tear-down",
    ]);
  });

  test("that was granted again elsewhere is withdrawn first where it was", () => {
    const moved = entry(aReservation({ targetClusterID: "berlin" }));
    expect(kinds({ entry: moved, instruction: written })).toEqual(["tear-down"]);
    expect(kinds({ entry: moved })).toEqual(["apply", "deliver"]);
  });

  test("is not written again when its request was deleted and it is about to be released", () => {
    expect(kinds({ isOrphan: true, isTornDown: true })).toEqual([]);
    expect(kinds({ isOrphan: true, instruction: written })).toEqual(["tear-down"]);
  });

  test("ends by its own time only while the broker is silent", () => {
    const timed = entry(
      aReservation({ status: { phase: "Active", message: "", expiresAt: "2026-07-01T09:00:00Z" } }),
    );
    expect(kinds({ entry: timed, broker: { now: NOW, isSilent: true }, instruction: written })).toEqual([
      "expire-locally",
      "tear-down",
    ]);
    expect(kinds({ entry: timed, instruction: written })).toEqual(["apply", "deliver"]);
  });
});

describe("the instruction", () => {
  test("belongs to its request inside one namespace, and carries its UID everywhere", () => {
    expect(written.metadata.ownerReferences).toMatchObject([{ kind: "ResourceRequest", uid: UID }]);
    const elsewhere = reservationInstruction(aReservation(), "agents", aRequest());
    expect(elsewhere.metadata.ownerReferences).toBeUndefined();
    expect(elsewhere.metadata.labels).toMatchObject({ "rear.fluidos.eu/request-uid": UID });
  });

  test("remembers the whole reservation for an agent that restarts", () => {
    expect(reservationFromInstruction(written, "rome")).toEqual(aReservation());
  });

  test.each([
    ["none", undefined],
    ["broken", "{"],
    ["of another reservation", JSON.stringify(aWireReservation({ id: "rsv-rome-other" }))],
  ])("of an older agent tells enough to keep it: memory %s", (_, memory) => {
    const annotations = memory === undefined ? {} : { "rear.fluidos.eu/reservation": memory };
    const old = { ...written, metadata: { ...written.metadata, annotations } };
    expect(reservationFromInstruction(old, "rome")).toMatchObject({
      id: aReservation().id,
      requester: "rome",
      provider: "paris",
      quantities: { cpu: "4", memory: "8Gi" },
      phase: "Reserved",
    });
  });
});
