import { agoOf, described, titled } from "../output/text.ts";
import {
  apiVersionOf,
  type Condition,
  type ReservationInstruction,
  type ResourceRequest,
  resourceRequestKind,
} from "@resource-broker/contract/crd";
import { type ClusterEvent, EVENTS } from "@resource-broker/kube";
import type { Run } from "../cli/command.ts";
import { type Column, properties, stylerFor, table } from "../output/print.ts";
import { PHASE_STYLES } from "../reservations/reservation.ts";
import type { DESCRIBE_OBJECT_OPTIONS } from "../commands/cluster-options.ts";
import { priceOf, quantitiesOf, requestExpiry } from "./get-objects.ts";
import {
  listObjects,
  nameIn,
  type OpenCluster,
  readObject,
  REQUESTS,
  RESERVATION_INSTRUCTIONS,
  withCluster,
} from "./open-cluster.ts";
import type { ObjectTextOptions } from "./print-objects.ts";

export const describeRequest: Run<typeof DESCRIBE_OBJECT_OPTIONS> = async ({ options, words }, host) => {
  const name = nameIn(words[0] ?? "", [REQUESTS]);
  return withCluster(options, host, async (cluster) => {
    const request = await readObject(cluster, REQUESTS, { name, namespace: cluster.namespace });
    const [instruction, events] = await Promise.all([
      instructionOf(cluster, request),
      eventsOf(cluster, request),
    ]);
    const report: RequestReport = { request, ...(instruction === undefined ? {} : { instruction }), events };
    const textOptions = { now: host.now(), styled: stylerFor(host) };
    return { data: report, table: () => requestText(report, textOptions), names: [name] };
  });
};

/** Agents may keep their instructions in another namespace than people their requests. */
async function instructionOf(
  cluster: OpenCluster,
  { metadata, status }: ResourceRequest,
): Promise<ReservationInstruction | undefined> {
  const reservation = status?.reservationName;
  if (reservation === undefined) return undefined;
  const { namespace = cluster.namespace } = metadata;
  const beside = await cluster.client.find(RESERVATION_INSTRUCTIONS.resource, {
    name: reservation,
    namespace,
  });
  if (beside !== undefined) return beside;
  const elsewhere = await listObjects(cluster, RESERVATION_INSTRUCTIONS, { namespace: undefined }).catch(
    () => [],
  );
  return elsewhere.find(({ spec }) => spec.reservationName === reservation);
}

/** Whoever may not read events still sees the rest. */
async function eventsOf(
  { client }: OpenCluster,
  { metadata }: ResourceRequest,
): Promise<readonly ClusterEvent[]> {
  const { name, namespace = "default", uid } = metadata;
  const found: ClusterEvent[] = [];
  await client
    .list(
      EVENTS,
      { namespace, fieldSelector: `involvedObject.name=${name}` },
      (event) => void found.push(event),
    )
    .catch(() => undefined);
  return found
    .filter(({ involvedObject }) => involvedObject.kind === "ResourceRequest" && involvedObject.uid === uid)
    .toSorted((a, b) => lastSeen(a).localeCompare(lastSeen(b)));
}

/** A request and everything that hangs on it. */
interface RequestReport {
  readonly request: ResourceRequest;
  /** The instruction of the request; absent while nothing is reserved. */
  readonly instruction?: ReservationInstruction;
  /** Oldest first. */
  readonly events: readonly ClusterEvent[];
}

/** Everything about one request, a paragraph for each side of it. */
function requestText(report: RequestReport, textOptions: ObjectTextOptions): string {
  const { request, instruction, events } = report;
  const { status } = request;
  const parts = [
    properties([...specRows(request), ...stateRows(request, textOptions)]),
    titled("Why", status?.explanation ?? ""),
    titled(
      "Instruction",
      instruction === undefined ? "" : (instruction.spec.message ?? instruction.metadata.name),
    ),
    titled("Conditions", table(conditionColumns(textOptions), status?.conditions ?? [])),
    titled("Events", table(eventColumns(textOptions), events)),
    status?.decisionID === undefined ? "" : `More: brokerctl explain ${status.decisionID}\n`,
  ];
  return parts.filter((part) => part !== "").join("\n");
}

type Rows = (readonly [string, string | undefined])[];

function specRows({ metadata, spec }: ResourceRequest): Rows {
  return [
    ["Name", metadata.name],
    ["Namespace", metadata.namespace],
    ["Asks for", described(quantitiesOf(spec))],
    ["On one node", spec.perNode === undefined ? undefined : described(spec.perNode)],
    ["For", spec.duration ?? "until it is deleted"],
    ["Only from", spec.targetClusterID],
    ...constraintRows(spec.constraints ?? {}),
    ["Priority", spec.priority?.toString()],
    ["Queues", spec.queue === true ? queueText(spec.queueTimeout) : undefined],
    ["Offloads", spec.offload?.namespaces.join(", ")],
  ];
}

/** At a broker without a queue the agent asks again instead; the conditions say which. */
function queueText(timeout: string | undefined): string {
  return `yes, for ${timeout ?? "as long as the broker's policy allows"}`;
}

function constraintRows(constraints: NonNullable<ResourceRequest["spec"]["constraints"]>): Rows {
  const { regions = [], labels = {}, excludeClusters = [] } = constraints;
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return [
    ["Only in", regions.join(", ") || undefined],
    ["Only with", pairs.join(", ") || undefined],
    ["Not from", excludeClusters.join(", ") || undefined],
  ];
}

function stateRows(request: ResourceRequest, { now, styled }: ObjectTextOptions): Rows {
  const { metadata, status = {} } = request;
  const { phase, attempts } = status;
  const unseen = `no agent has processed it (${apiVersionOf(resourceRequestKind)}); check that an agent runs here`;
  return [
    ["Phase", phase === undefined ? styled(unseen, "careful") : styled(phase, PHASE_STYLES[phase])],
    ["Reason", status.reason || undefined],
    ["Message", status.message || undefined],
    ["Tenant", status.tenant],
    ["Lent by", status.targetClusterID],
    ["Reservation", status.reservationName],
    ["Price", status.cost === undefined ? undefined : priceOf(request)],
    ["Expires", phase === "Reserved" || phase === "Active" ? requestExpiry(request, now) : undefined],
    ["Asked", attempts === 1 ? "once" : attempts === undefined ? undefined : `${attempts} times`],
    ["Asks again", status.nextAttemptTime],
    ["Made", `${agoOf(metadata.creationTimestamp, now)} ago`],
  ];
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

function lastSeen({ lastTimestamp, eventTime, metadata }: ClusterEvent): string {
  return lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? "";
}
