import type { ProviderInstruction, ReservationInstruction } from "@resource-broker/contract/crd";
import type { Run } from "../cli/command.ts";
import type { Styler } from "../output/colour.ts";
import type { Column } from "../output/table.ts";
import { ageColumn, expiryOf, nameColumn, requestedColumns } from "./columns.ts";
import { type ObjectKind, PROVIDER_INSTRUCTIONS, RESERVATION_INSTRUCTIONS } from "./kinds.ts";
import type { GET_OBJECTS_OPTIONS } from "./options.ts";
import { type ObjectState, type ObjectTextOptions, printObjects } from "./print-objects.ts";

type Instruction = ReservationInstruction | ProviderInstruction;
type Row = ObjectState<Instruction>;

const KINDS: readonly ObjectKind<Instruction>[] = [RESERVATION_INSTRUCTIONS, PROVIDER_INSTRUCTIONS];

/** The instructions of both roles, in one list. */
export const getInstructions: Run<typeof GET_OBJECTS_OPTIONS> = (order, host) =>
  printObjects({ kinds: KINDS, columns, moreColumns, noun: "instruction" }, order, host);

function columns({ now, styled }: ObjectTextOptions): readonly Column<Row>[] {
  return [
    nameColumn(),
    { title: "SIDE", value: ({ object }) => (isReservationInstruction(object) ? "borrows" : "lends") },
    { title: "OTHER", value: ({ object }) => otherSide(object) },
    ...requestedColumns<Instruction>(),
    { title: "STATE", value: (row) => stateOf(row, styled) },
    { title: "EXPIRES", value: ({ object: { spec } }) => expiryOf(spec.expiresAt, now) },
    ageColumn(now),
  ];
}

function moreColumns(): readonly Column<Row>[] {
  return [
    { title: "RESERVATION", value: ({ object: { spec } }) => spec.reservationName },
    { title: "INSTRUCTION", value: ({ object: { spec } }) => spec.message ?? "-" },
    { title: "MESSAGE", value: ({ object: { status } }) => status?.message ?? "-" },
  ];
}

function isReservationInstruction(object: Instruction): object is ReservationInstruction {
  return "targetClusterID" in object.spec;
}

function otherSide(object: Instruction): string {
  return isReservationInstruction(object) ? object.spec.targetClusterID : object.spec.requesterClusterID;
}

function stateOf({ object, isDeleted }: Row, styled: Styler): string {
  if (isDeleted) return styled("Deleted", "quiet");
  const [isDone, word] = isReservationInstruction(object)
    ? ([object.status?.delivered === true, "Delivered"] as const)
    : ([object.status?.enforced === true, "Held"] as const);
  return isDone ? styled(word, "good") : styled("Waiting", "careful");
}
