import type { ProviderInstruction, ReservationInstruction } from "@resource-broker/contract";
import { RESERVATION_ANNOTATION } from "./labels.ts";
import { isSameStatus } from "./conditions.ts";

type Instruction = ProviderInstruction | ReservationInstruction;

/** True when the object in the cluster equals the desired one. */
export function isSameInstruction(found: Instruction, desired: Instruction): boolean {
  const annotationOf = (instruction: Instruction) =>
    instruction.metadata.annotations?.[RESERVATION_ANNOTATION];
  return isSameStatus(found.spec, desired.spec) && annotationOf(found) === annotationOf(desired);
}
