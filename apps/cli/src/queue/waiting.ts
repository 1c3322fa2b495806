import { parseTime } from "@resource-broker/base";
import { isReserved, queuePages, type ReservationOrWaiting } from "@resource-broker/client";
import type { WaitingRequestDTO } from "@resource-broker/contract";
import { isFinal } from "@resource-broker/domain";
import type { Host, View } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { type Answer, type Broker, type Listed, listAll } from "../connection/broker.ts";
import { type Column, properties, type Styler, stylerFor, table, wide } from "../output/print.ts";
import { age, agoOf, described, one, wideAmounts } from "../output/text.ts";
import { expiryOf, PHASE_STYLES, reservationView } from "../reservations/reservation.ts";

/** The requests that wait, in the order of the queue: an admin's list has all of them or those of one cluster. */
export function listWaiting(broker: Broker, requester?: string): Promise<Listed<WaitingRequestDTO>> {
  return listAll(broker, queuePages(requester));
}

/** `now` is the broker's. */
export function waitingColumns(now: number, styled: Styler): readonly Column<WaitingRequestDTO>[] {
  return [
    { title: "POSITION", value: ({ queue }) => queue?.position.toString() ?? "-" },
    { title: "NAME", value: ({ id }) => id },
    { title: "CLUSTER", value: ({ requesterID }) => requesterID },
    { title: "TENANT", value: ({ tenant }) => tenant },
    { title: "CPU", value: ({ requestedResources }) => one("cpu", requestedResources) },
    { title: "MEMORY", value: ({ requestedResources }) => one("memory", requestedResources) },
    { title: "GPU", value: ({ requestedResources }) => one("gpu", requestedResources) },
    { title: "PRIORITY", value: ({ priority }) => String(priority) },
    { title: "REASON", value: (item) => styled(reasonOf(item), isLeft(item) ? "bad" : "careful") },
    { title: "NOT BEFORE", value: ({ queue }) => inTime(queue?.expectedStart, now) },
    { title: "AGE", value: ({ createdAt }) => agoOf(createdAt, now) },
    ...wide<WaitingRequestDTO>(
      ...wideAmounts<WaitingRequestDTO>(({ requestedResources }, name) => one(name, requestedResources)),
      { title: "NAMESPACE", value: ({ namespace }) => namespace ?? "-" },
      { title: "SHARE", value: ({ queue }) => queue?.share.toString() ?? "-" },
      { title: "UNTIL", value: (item) => (isLeft(item) ? "-" : inTime(item.until, now)) },
      { title: "KEPT AT", value: ({ queue }) => queue?.nominatedTo ?? "-" },
      { title: "MESSAGE", value: ({ status }) => status.message },
    ),
  ];
}

/** True: it waits no more, and got no reservation. */
export function isLeft({ status }: WaitingRequestDTO): boolean {
  return isFinal(status.phase);
}

/** Why it waits, or why it left the queue. */
function reasonOf({ queue, reason }: WaitingRequestDTO): string {
  return reason ?? queue?.reason ?? "-";
}

/** `in 24m`, `now` for a time that has come, or a dash. */
function inTime(time: string | undefined, now: number): string {
  const at = time === undefined ? undefined : parseTime(time);
  if (at === undefined) return "-";
  return at <= now ? "now" : `in ${age(at - now)}`;
}

/** What a command has made of a waiting request: one line, as in the queue. */
function waitingView({ value, at }: Answer<WaitingRequestDTO>, host: Host): View {
  return {
    data: value,
    table: (isWide) => table(waitingColumns(at, stylerFor(host)), [value], isWide),
    names: [value.id],
  };
}

export function eitherView({ value, ...answer }: Answer<ReservationOrWaiting>, host: Host): View {
  return isReserved(value)
    ? reservationView({ ...answer, value }, host)
    : waitingView({ ...answer, value }, host);
}

/** A request that left the queue without a reservation, as the command that waited for it ends. */
export function leftQueue({ id, reason, status }: WaitingRequestDTO): CommandError {
  // Nobody had room in time, as in a refusal; otherwise somebody has ended it.
  const exit = reason === "WaitTimeout" ? "unsatisfiable" : "conflict";
  return new CommandError(exit, `${id} left the queue without a reservation: ${status.message}`);
}

/** Everything about one, line by line. */
export function waitingText(waiting: WaitingRequestDTO, at: number, styled: Styler): string {
  const { status, queue, createdAt, since, endedAt, until, priority } = waiting;
  return properties([
    ["Name", waiting.id],
    ["Cluster", waiting.requesterID],
    ["Namespace", waiting.namespace],
    ["Tenant", waiting.tenant],
    ["Resources", described(waiting.requestedResources)],
    ["Phase", styled(status.phase, PHASE_STYLES[status.phase])],
    ["Position", queue && `${queue.position} of ${queue.of}`],
    ["Reason", reasonOf(waiting)],
    ["Message", status.message],
    ["Not before", queue?.expectedStart && `${inTime(queue.expectedStart, at)} (${queue.expectedStart})`],
    ["Capacity kept at", queue?.nominatedTo],
    ["Asked for", agoText(createdAt, at)],
    ["Waits since", since && agoText(since, at)],
    ["Waits until", isLeft(waiting) ? undefined : `${inTime(until, at)} (${until})`],
    ["Left the queue", endedAt && agoText(endedAt, at)],
    ["Tier", waiting.tier],
    ["Priority", priority === 0 ? undefined : priority.toString()],
    ["Share of its tenant", queue?.share.toString()],
    ["Key", waiting.key],
  ]);
}

function agoText(time: string, now: number): string {
  return `${agoOf(time, now)} ago (${time})`;
}

/** A request of a cluster, waiting or granted, as one row beside others of either kind. */
export function demandColumns(now: number, styled: Styler): readonly Column<ReservationOrWaiting>[] {
  return [
    { title: "NAME", value: ({ id }) => id },
    { title: "CLUSTER", value: ({ requesterID }) => requesterID },
    { title: "TENANT", value: ({ tenant, requesterID }) => tenant ?? requesterID },
    { title: "CPU", value: ({ requestedResources }) => one("cpu", requestedResources) },
    { title: "MEMORY", value: ({ requestedResources }) => one("memory", requestedResources) },
    { title: "GPU", value: ({ requestedResources }) => one("gpu", requestedResources) },
    { title: "PHASE", value: ({ status: { phase } }) => styled(phase, PHASE_STYLES[phase]) },
    { title: "QUEUE", value: (item) => placeOf(item) },
    { title: "TARGET", value: (item) => (isReserved(item) ? item.targetClusterID : "-") },
    { title: "AGE", value: ({ createdAt }) => agoOf(createdAt, now) },
    ...wide<ReservationOrWaiting>(
      ...wideAmounts<ReservationOrWaiting>(({ requestedResources }, name) => one(name, requestedResources)),
      { title: "PRIORITY", value: ({ priority }) => String(priority ?? 0) },
      { title: "ENDS", value: (item) => endOf(item, now) },
      { title: "MESSAGE", value: ({ status }) => status.message },
    ),
  ];
}

/** `2 of 7`. */
function placeOf(item: ReservationOrWaiting): string {
  if (isReserved(item) || item.queue === undefined) return "-";
  return `${item.queue.position} of ${item.queue.of}`;
}

function endOf(item: ReservationOrWaiting, now: number): string {
  return isReserved(item) ? expiryOf(item, now) : inTime(item.until, now);
}
