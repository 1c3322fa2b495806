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

const received = aReservation({ sliceDefaults: { pods: 50, ephemeralStorage: "5Gi" } });
const over = entry(ended("Expired"));
const moved = entry(aReservation({ targetClusterID: "berlin" }));
const timed = entry(
  aReservation({ status: { phase: "Active", message: "", expiresAt: "2026-07-01T09:00:00Z" } }),
);
const silent = { now: NOW, isSilent: true };

test.each<[string, Partial<ReservationInstructionState>, string[]]>([
  ["becomes an instruction and is delivered", {}, ["apply", "deliver"]],
  ["is delivered again where it has an instruction", { instruction: written }, ["deliver"]],
  [
    "keeps that its instruction has no slice defaults",
    { entry: entry(received), instruction: written },
    ["deliver"],
  ],
  [
    "keeps the slice defaults that its instruction has",
    { instruction: reservationInstruction(received, "default", aRequest()) },
    ["deliver"],
  ],
  ["is withdrawn when it ended", { entry: over, instruction: written }, ["tear-down"]],
  [
    "is withdrawn though the garbage collector was faster with its instruction",
    { entry: over },
    ["tear-down"],
  ],
  ["is left alone when it ended and was withdrawn", { entry: over, isTornDown: true }, []],
  [
    "is withdrawn again where its instruction outlived its data plane",
    { entry: over, instruction: written, isTornDown: true },
    ["tear-down"],
  ],
  [
    "granted again elsewhere is withdrawn first where it was",
    { entry: moved, instruction: written },
    ["tear-down"],
  ],
  ["granted again elsewhere is then written there", { entry: moved }, ["apply", "deliver"]],
  ["is withdrawn when its request was deleted", { isOrphan: true }, ["tear-down"]],
  ["is not written again when it is about to be released", { isOrphan: true, isTornDown: true }, []],
  [
    "ends by its own time while the broker is silent",
    { entry: timed, broker: silent, instruction: written },
    ["expire-locally", "tear-down"],
  ],
  ["waits for the broker's word otherwise", { entry: timed, instruction: written }, ["apply", "deliver"]],
])("a reservation of this cluster %s", (_, changes, kinds) => {
  expect(planReservationInstruction(state(changes)).actions.map(({ kind }) => kind)).toEqual(kinds);
});

test("a reservation made by an admin becomes an instruction of nobody", () => {
  const [put] = planReservationInstruction(state({ request: undefined })).actions;
  expect(put?.kind === "apply" && put.instruction.metadata.ownerReferences).toBeUndefined();
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
