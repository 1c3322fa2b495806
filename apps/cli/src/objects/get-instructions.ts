import type { ProviderInstruction, ReservationInstruction } from "@resource-broker/contract";
import type { Run } from "../cli/command.ts";
import type { Paint } from "../output/colour.ts";
import type { Column } from "../output/table.ts";
import { ageColumn, expiryOf, nameColumn, requestedColumns } from "./columns.ts";
import { BORROWED, LENT, type ObjectKind } from "./kinds.ts";
import type { GET_OBJECTS_OPTIONS } from "./options.ts";
import { type ObjectLook, printObjects, type Sighting } from "./print-objects.ts";

type Instruction = ReservationInstruction | ProviderInstruction;
type Row = Sighting<Instruction>;

const KINDS: readonly ObjectKind<Instruction>[] = [BORROWED, LENT];

/** Both sides of what the cluster was told, in one list. */
export const getInstructions: Run<typeof GET_OBJECTS_OPTIONS> = (order, host) =>
  printObjects({ kinds: KINDS, columns, moreColumns, noun: "instruction" }, order, host);

function columns({ now, paint }: ObjectLook): readonly Column<Row>[] {
  return [
    nameColumn(),
    { title: "SIDE", value: ({ object }) => (isBorrowed(object) ? "borrows" : "lends") },
    { title: "OTHER", value: ({ object }) => otherSide(object) },
    ...requestedColumns<Instruction>(),
    { title: "STATE", value: (row) => stateOf(row, paint) },
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

function isBorrowed(object: Instruction): object is ReservationInstruction {
  return "targetClusterID" in object.spec;
}

function otherSide(object: Instruction): string {
  return isBorrowed(object) ? object.spec.targetClusterID : object.spec.requesterClusterID;
}

function stateOf({ object, isGone }: Row, paint: Paint): string {
  if (isGone) return paint("Deleted", "quiet");
  const [isDone, word] = isBorrowed(object)
    ? ([object.status?.delivered === true, "Delivered"] as const)
    : ([object.status?.enforced === true, "Held"] as const);
  return isDone ? paint(word, "good") : paint("Waiting", "careful");
}
