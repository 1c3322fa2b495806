import type { ResourceRequest } from "@resource-broker/contract/crd";
import type { Run } from "../cli/command.ts";
import type { Styler } from "../output/colour.ts";
import { perHour } from "../output/price.ts";
import type { Column } from "../output/table.ts";
import { PHASE_STYLES } from "../reservations/reservation-columns.ts";
import { ageColumn, expiryOf, nameColumn, requestedColumns } from "./columns.ts";
import { REQUESTS } from "./kinds.ts";
import type { GET_OBJECTS_OPTIONS } from "./options.ts";
import { type ObjectState, type ObjectTextOptions, printObjects } from "./print-objects.ts";

type Row = ObjectState<ResourceRequest>;

export const getRequests: Run<typeof GET_OBJECTS_OPTIONS> = (order, host) =>
  printObjects({ kinds: [REQUESTS], columns, moreColumns, noun: "request" }, order, host);

function columns({ now, styled }: ObjectTextOptions): readonly Column<Row>[] {
  return [
    nameColumn(),
    ...requestedColumns<ResourceRequest>(),
    { title: "PHASE", value: (row) => phaseOf(row, styled) },
    { title: "TARGET", value: ({ object: { status } }) => status?.targetClusterID ?? "-" },
    { title: "EXPIRES", value: ({ object }) => requestExpiry(object, now) },
    ageColumn(now),
  ];
}

function moreColumns(): readonly Column<Row>[] {
  return [
    { title: "RESERVATION", value: ({ object: { status } }) => status?.reservationName ?? "-" },
    { title: "DECISION", value: ({ object: { status } }) => status?.decisionID ?? "-" },
    { title: "PRICE", value: ({ object }) => priceOf(object) },
    { title: "PRIORITY", value: ({ object: { spec } }) => String(spec.priority ?? 0) },
    { title: "ATTEMPTS", value: ({ object: { status } }) => String(status?.attempts ?? 0) },
    { title: "MESSAGE", value: ({ object: { status } }) => firstLine(status?.message) },
  ];
}

function phaseOf({ object: { status }, isDeleted }: Row, styled: Styler): string {
  if (isDeleted) return styled("Deleted", "quiet");
  // The agent has not seen it, or there is none.
  if (status?.phase === undefined) return styled("Unseen", "careful");
  return styled(status.phase, PHASE_STYLES[status.phase]);
}

/** Only what is held has an end. */
export function requestExpiry({ status }: ResourceRequest, now: number): string {
  const isHeld = status?.phase === "Reserved" || status?.phase === "Active";
  return isHeld ? expiryOf(status.expiresAt, now) : "-";
}

export function priceOf({ status }: ResourceRequest): string {
  return perHour(status?.cost?.perHour, status?.cost?.currency);
}

function firstLine(text = "-"): string {
  return text.split("\n")[0] ?? "-";
}
