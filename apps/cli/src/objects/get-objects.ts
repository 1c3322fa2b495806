import { parseTime, perResource, type SlotResource } from "@resource-broker/base";
import type { SomeQuantitiesDTO } from "@resource-broker/contract";
import type {
  Advertisement,
  ProviderInstruction,
  ReservationInstruction,
  ResourceRequest,
} from "@resource-broker/contract/crd";
import type { Run } from "../cli/command.ts";
import { type Column, type Styler, wide } from "../output/print.ts";
import {
  age,
  agoOf,
  amountsIn,
  leftIn,
  listed,
  one,
  perHour,
  unitPrice,
  wideAmounts,
} from "../output/text.ts";
import { PHASE_STYLES } from "../reservations/reservation.ts";
import type { GET_OBJECTS_OPTIONS } from "../commands/cluster-options.ts";
import type { GET_REQUESTS_OPTIONS } from "../commands/queue-options.ts";
import {
  ADVERTISEMENTS,
  type AnyObject,
  PROVIDER_INSTRUCTIONS,
  REQUESTS,
  RESERVATION_INSTRUCTIONS,
} from "./open-cluster.ts";
import { type ObjectState, type ObjectTable, printObjects } from "./print-objects.ts";

type Instruction = ReservationInstruction | ProviderInstruction;

/** What `brokerctl get <kind>` shows of each kind. */
const REQUEST_TABLE: ObjectTable<ResourceRequest> = {
  kinds: [REQUESTS],
  columns: ({ now, styled }) => [
    NAME,
    ...REQUESTED,
    { title: "PHASE", value: (row) => phaseOf(row, styled) },
    { title: "TARGET", value: ({ object: { status } }) => status?.targetClusterID ?? "-" },
    { title: "EXPIRES", value: ({ object }) => requestExpiry(object, now) },
    ageColumn(now),
    ...wide<ObjectState<ResourceRequest>>(
      { title: "QUEUE", value: ({ object: { status } }) => status?.queue?.place ?? "-" },
      { title: "TENANT", value: ({ object: { status } }) => status?.tenant ?? "-" },
      { title: "RESERVATION", value: ({ object: { status } }) => status?.reservationName ?? "-" },
      { title: "DECISION", value: ({ object: { status } }) => status?.decisionID ?? "-" },
      { title: "PRICE", value: ({ object }) => priceOf(object) },
      { title: "PRIORITY", value: ({ object: { spec } }) => String(spec.priority ?? 0) },
      { title: "ATTEMPTS", value: ({ object: { status } }) => String(status?.attempts ?? 0) },
      { title: "MESSAGE", value: ({ object: { status } }) => status?.message?.split("\n", 1)[0] ?? "-" },
    ),
  ],
};

const ADVERTISEMENT_TABLE: ObjectTable<Advertisement> = {
  kinds: [ADVERTISEMENTS],
  columns: ({ now, styled }) => [
    NAME,
    { title: "CLUSTER", value: ({ object }) => object.spec.clusterID },
    { title: "CPU", value: ({ object }) => leftIn(object.spec.resources, "cpu") },
    { title: "MEMORY", value: ({ object }) => leftIn(object.spec.resources, "memory") },
    { title: "GPU", value: ({ object }) => leftIn(object.spec.resources, "gpu") },
    { title: "RESERVED", value: ({ object }) => listed(amountsIn(object.spec.resources.reserved ?? {})) },
    {
      title: "PUBLISHED",
      value: ({ object: { status }, isDeleted }) => {
        if (isDeleted) return styled("deleted", "quiet");
        return status?.published === true ? styled("yes", "good") : styled("no", "bad");
      },
    },
    { title: "FRESH", value: ({ object: { spec } }) => agoOf(spec.timestamp, now) },
    ageColumn(now),
    ...wide<ObjectState<Advertisement>>(
      ...wideAmounts<ObjectState<Advertisement>>(({ object }, name) => leftIn(object.spec.resources, name)),
      { title: "PRICE", value: ({ object: { spec } }) => unitPrice(spec.cost?.cpuCost, spec.cost, "CPU-h") },
      { title: "ENDPOINT", value: ({ object: { spec } }) => spec.endpointURL ?? "-" },
      { title: "LIQO", value: ({ object: { spec } }) => spec.liqo?.version ?? "-" },
      { title: "MESSAGE", value: ({ object: { status } }) => status?.message ?? "-" },
    ),
  ],
};

/** The instructions of both roles, in one list. */
const INSTRUCTION_TABLE: ObjectTable<Instruction> = {
  kinds: [RESERVATION_INSTRUCTIONS, PROVIDER_INSTRUCTIONS],
  columns: ({ now, styled }) => [
    NAME,
    { title: "SIDE", value: ({ object }) => (isReservationInstruction(object) ? "borrows" : "lends") },
    {
      title: "OTHER",
      value: ({ object }) =>
        isReservationInstruction(object) ? object.spec.targetClusterID : object.spec.requesterClusterID,
    },
    ...REQUESTED,
    { title: "STATE", value: (row) => stateOf(row, styled) },
    { title: "EXPIRES", value: ({ object: { spec } }) => expiryOf(spec.expiresAt, now) },
    ageColumn(now),
    ...wide<ObjectState<Instruction>>(
      { title: "RESERVATION", value: ({ object: { spec } }) => spec.reservationName },
      { title: "INSTRUCTION", value: ({ object: { spec } }) => spec.message ?? "-" },
      { title: "MESSAGE", value: ({ object: { status } }) => status?.message ?? "-" },
    ),
  ],
};

type Get = Run<typeof GET_OBJECTS_OPTIONS>;

export const getRequests: Run<typeof GET_REQUESTS_OPTIONS> = async (input, host) =>
  input.options["all-clusters"]
    ? (await import("../queue/get-queue.ts")).getDemand(input, host)
    : printObjects(REQUEST_TABLE, input, host);
export const getAdvertisements: Get = (input, host) => printObjects(ADVERTISEMENT_TABLE, input, host);
export const getInstructions: Get = (input, host) => printObjects(INSTRUCTION_TABLE, input, host);

/** What is asked for or held, as the flat kinds state it. */
type Requested = Readonly<Partial<Record<SlotResource["requestField"], string>>> & {
  readonly extended?: SomeQuantitiesDTO["extended"];
};

const NAME: Column<ObjectState<AnyObject>> = { title: "NAME", value: ({ object }) => object.metadata.name };

const REQUESTED: readonly Column<{ readonly object: { readonly spec: Requested } }>[] = [
  { title: "CPU", value: ({ object }) => one("cpu", quantitiesOf(object.spec)) },
  { title: "MEMORY", value: ({ object }) => one("memory", quantitiesOf(object.spec)) },
  { title: "GPU", value: ({ object }) => one("gpu", quantitiesOf(object.spec)) },
];

function ageColumn(now: number): Column<ObjectState<AnyObject>> {
  return { title: "AGE", value: ({ object: { metadata } }) => agoOf(metadata.creationTimestamp, now) };
}

/** A person may have written a number where a quantity stands: the API server takes both. */
export function quantitiesOf(spec: Requested): SomeQuantitiesDTO {
  const { extended = {} } = spec;
  return {
    ...perResource("name", ({ requestField }) => String(spec[requestField] ?? "0")),
    extended: Object.fromEntries(Object.entries(extended).map(([name, count]) => [name, String(count)])),
  };
}

function phaseOf({ object: { status }, isDeleted }: ObjectState<ResourceRequest>, styled: Styler): string {
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

/** `in 29m`, `over`, or `never`. */
function expiryOf(time: string | undefined, now: number): string {
  const at = time === undefined ? undefined : parseTime(time);
  if (at === undefined) return "never";
  return at <= now ? "over" : `in ${age(at - now)}`;
}

function isReservationInstruction(object: Instruction): object is ReservationInstruction {
  return "targetClusterID" in object.spec;
}

function stateOf({ object, isDeleted }: ObjectState<Instruction>, styled: Styler): string {
  if (isDeleted) return styled("Deleted", "quiet");
  const [isDone, word] = isReservationInstruction(object)
    ? ([object.status?.delivered === true, "Delivered"] as const)
    : ([object.status?.enforced === true, "Held"] as const);
  return isDone ? styled(word, "good") : styled("Waiting", "careful");
}
