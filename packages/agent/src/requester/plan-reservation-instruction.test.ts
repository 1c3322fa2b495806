import { expect, test } from "vitest";
import { reservationInstruction } from "../manifests/instructions.ts";
import { aRequest, aReservation, cachedOf, ended, NOW, UID } from "../testing/samples.ts";
import {
  planReservationInstruction,
  type ReservationInstructionState,
} from "./plan-reservation-instruction.ts";

function state(changes: Partial<ReservationInstructionState> = {}): ReservationInstructionState {
  return {
    entry: cachedOf("requester", aReservation()),
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
const over = cachedOf("requester", ended("Expired"));
const moved = cachedOf("requester", aReservation({ targetClusterID: "berlin" }));
const timed = cachedOf(
  "requester",
  aReservation({ status: { phase: "Active", message: "", expiresAt: "2026-07-01T09:00:00Z" } }),
);
const silent = { now: NOW, isSilent: true };

test.each<[string, Partial<ReservationInstructionState>, string[]]>([
  ["becomes an instruction and is delivered", {}, ["apply", "deliver"]],
  ["is delivered again where it has an instruction", { instruction: written }, ["deliver"]],
  [
    "keeps that its instruction has no slice defaults",
    { entry: cachedOf("requester", received), instruction: written },
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

test("the instruction belongs to its request inside one namespace, and carries its UID everywhere", () => {
  expect(written.metadata.ownerReferences).toMatchObject([{ kind: "ResourceRequest", uid: UID }]);
  const elsewhere = reservationInstruction(aReservation(), "agents", aRequest());
  expect(elsewhere.metadata.ownerReferences).toBeUndefined();
  expect(elsewhere.metadata.labels).toMatchObject({ "rear.fluidos.eu/request-uid": UID });
});
