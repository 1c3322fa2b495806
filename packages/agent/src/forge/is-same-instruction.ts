import type { ProviderInstruction, ReservationInstruction } from "@resource-broker/contract";
import { RESERVATION_ANNOTATION } from "./labels.ts";
import { saysTheSame } from "./conditions.ts";

type Instruction = ProviderInstruction | ReservationInstruction;

/** True when the object in the cluster equals the desired one. */
export function isSameInstruction(found: Instruction, wanted: Instruction): boolean {
  const memory = (instruction: Instruction) => instruction.metadata.annotations?.[RESERVATION_ANNOTATION];
  return saysTheSame(found.spec, wanted.spec) && memory(found) === memory(wanted);
}
