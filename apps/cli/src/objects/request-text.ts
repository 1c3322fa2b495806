import {
  apiVersionOf,
  type Condition,
  type ReservationInstruction,
  type ResourceRequest,
  resourceRequestKind,
} from "@resource-broker/contract/crd";
import type { ClusterEvent } from "@resource-broker/kube";
import { described } from "../output/amounts.ts";
import { type Column, properties, table } from "../output/table.ts";
import { PHASE_STYLES } from "../reservations/reservation-columns.ts";
import { agoOf, quantitiesOf } from "./columns.ts";
import { priceOf, requestExpiry } from "./get-requests.ts";
import type { ObjectTextOptions } from "./print-objects.ts";

/** A request and everything that hangs on it. */
export interface RequestReport {
  readonly request: ResourceRequest;
  /** The instruction of the request; absent while nothing is reserved. */
  readonly instruction?: ReservationInstruction;
  /** Oldest first. */
  readonly events: readonly ClusterEvent[];
}

/** Everything about one request, a paragraph for each side of it. */
export function requestText(report: RequestReport, textOptions: ObjectTextOptions): string {
  const { request, instruction, events } = report;
  const { status } = request;
  const parts = [
    properties([...specRows(request), ...stateRows(request, textOptions)]),
    status?.explanation === undefined ? "" : `Why:\n${indented(status.explanation)}`,
    instruction === undefined
      ? ""
      : `Instruction:\n${indented(instruction.spec.message ?? instruction.metadata.name)}`,
    titled("Conditions", table(conditionColumns(textOptions), status?.conditions ?? [])),
    titled("Events", table(eventColumns(textOptions), events)),
    status?.decisionID === undefined ? "" : `More: brokerctl explain ${status.decisionID}\n`,
  ];
  return parts.filter((part) => part !== "").join("\n");
}

type Rows = (readonly [string, string])[];

function specRows({ metadata, spec }: ResourceRequest): Rows {
  const { regions = [], labels = {}, excludeClusters = [] } = spec.constraints ?? {};
  return present([
    ["Name", metadata.name],
    ["Namespace", metadata.namespace],
    ["Asks for", described(quantitiesOf(spec))],
    ["On one node", spec.perNode === undefined ? undefined : described(spec.perNode)],
    ["For", spec.duration ?? "until it is deleted"],
    ["Only from", spec.targetClusterID],
    ["Only in", regions.join(", ")],
    [
      "Only with",
      Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(", "),
    ],
    ["Not from", excludeClusters.join(", ")],
    ["Priority", spec.priority?.toString()],
    ["Queues", spec.queue === true ? "yes: asks again until something fits" : undefined],
    ["Offloads", spec.offload?.namespaces.join(", ")],
  ]);
}

function stateRows(request: ResourceRequest, { now, styled }: ObjectTextOptions): Rows {
  const { metadata, status = {} } = request;
  const { phase } = status;
  return present([
    [
      "Phase",
      phase === undefined
        ? styled(
            `no agent has processed it (${apiVersionOf(resourceRequestKind)}); check that an agent runs here`,
            "careful",
          )
        : styled(phase, PHASE_STYLES[phase]),
    ],
    ["Reason", status.reason],
    ["Message", status.message],
    ["Lent by", status.targetClusterID],
    ["Reservation", status.reservationName],
    ["Price", status.cost === undefined ? undefined : priceOf(request)],
    ["Expires", phase === "Reserved" || phase === "Active" ? requestExpiry(request, now) : undefined],
    ["Asked", status.attempts === undefined ? undefined : timesOf(status.attempts)],
    ["Asks again", status.nextAttemptTime],
    ["Made", `${agoOf(metadata.creationTimestamp, now)} ago`],
  ]);
}

function timesOf(attempts: number): string {
  return attempts === 1 ? "once" : `${attempts} times`;
}

function present(rows: readonly (readonly [string, string | undefined])[]): Rows {
  return rows.flatMap(([title, value]) =>
    value === undefined || value === "" ? [] : [[title, value] as const],
  );
}

function conditionColumns({ now, styled }: ObjectTextOptions): readonly Column<Condition>[] {
  return [
    { title: "TYPE", value: ({ type }) => type },
    { title: "STATUS", value: ({ status }) => styled(status, status === "True" ? "good" : "careful") },
    { title: "REASON", value: ({ reason }) => reason },
    { title: "SINCE", value: ({ lastTransitionTime }) => agoOf(lastTransitionTime, now) },
    { title: "MESSAGE", value: ({ message }) => message },
  ];
}

function eventColumns({ now, styled }: ObjectTextOptions): readonly Column<ClusterEvent>[] {
  return [
    {
      title: "TYPE",
      value: ({ type = "Normal" }) => styled(type, type === "Warning" ? "careful" : "quiet"),
    },
    { title: "REASON", value: ({ reason = "-" }) => reason },
    { title: "SEEN", value: (event) => `${agoOf(lastSeen(event), now)}${times(event)}` },
    { title: "MESSAGE", value: ({ message = "" }) => message },
  ];
}

function times({ count = 1 }: ClusterEvent): string {
  return count > 1 ? ` (x${count})` : "";
}

function titled(title: string, text: string): string {
  return text === "" ? "" : `${title}:\n${indented(text)}`;
}

function indented(text: string): string {
  return `${text.trimEnd().replaceAll(/^/gmu, "  ")}\n`;
}

export function lastSeen({ lastTimestamp, eventTime, metadata }: ClusterEvent): string {
  return lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? "";
}
