import { formatDuration } from "@resource-broker/base";
import { cordonCall, drainCall } from "@resource-broker/client";
import {
  type DrainReplyDTO,
  drainRequestSchema,
  present,
  type ReservationDTO,
} from "@resource-broker/contract";
import { isLive } from "@resource-broker/domain";
import type { Host, Run, View } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { checkReason } from "../cli/reason.ts";
import type { DRAIN_OPTIONS } from "../commands/queue-options.ts";
import { type Answer, type Broker, type Listed, withBroker } from "../connection/broker.ts";
import { patiently } from "../connection/patience.ts";
import { age } from "../output/text.ts";
import { properties, stylerFor, table } from "../output/print.ts";
import { expiryOf, listReservations, noticeEnd, reservationColumns } from "../reservations/reservation.ts";
import { withClusterHint } from "./cluster-view.ts";

const POLL_MS = 2000;
/** How many are named in a line. */
const NAMED = 5;

/** Keeps a cluster from lending anything new, ends what it lends after a notice, and waits until nothing is left. */
export const drain: Run<typeof DRAIN_OPTIONS> = async ({ options, words: [id = ""] }, host) => {
  const { reason, grace } = options;
  checkReason(reason, drainRequestSchema);
  if (options["no-notice"] && grace !== undefined)
    throw new CommandError("usage", "--grace is the time of a notice: it does not go with --no-notice");
  return withBroker(options, host, async (broker) => {
    const begin = options["no-notice"]
      ? broker.request(cordonCall(id, reason)).then(() => UNTOUCHED)
      : broker
          .request(
            drainCall(
              id,
              present({ reason, grace: grace === undefined ? undefined : formatDuration(grace) }),
            ),
          )
          .then(noticeText);
    host.note(`${id} is cordoned: it lends nothing new. ${await withClusterHint(broker, id, begin)}\n`);
    const ignore = host.onInterrupt?.(
      () =>
        `\n${id} stays cordoned, and notices stand. To withdraw them and let it lend again: brokerctl uncordon ${id}\n`,
    );
    try {
      return viewOf(id, await whenEmpty(broker, { id, timeoutMs: options.timeout }, host), host);
    } finally {
      ignore?.();
    }
  });
};

const UNTOUCHED = "Nothing is ended by force: what it lends ends by itself, or is released";

function noticeText({ value: { noticed, untold } }: Answer<DrainReplyDTO>): string {
  const told = `Under notice: ${noticed.length} of ${noticed.length + untold.length} reservations`;
  if (untold.length === 0) return told;
  return `${told}. Without, because their clusters' agents know of no notices: ${named(untold)}. They end by themselves, or are released`;
}

function named(names: readonly string[]): string {
  const more = names.length - NAMED;
  return [...names.slice(0, NAMED), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

interface Drained {
  readonly id: string;
  /** Undefined: however long it takes. */
  readonly timeoutMs: number | undefined;
}

/** What is left at the end: nothing, unless the time was over before. */
async function whenEmpty(broker: Broker, { id, timeoutMs }: Drained, host: Host) {
  const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : host.now() + timeoutMs;
  let said = "";
  for (;;) {
    const left = await patiently(() => readLeft(broker, id), host, deadline);
    const leftMs = deadline - host.now();
    if (left.items.length === 0 || leftMs <= 0) return left;
    const state = stateOf(left);
    if (state !== said) host.note(`${progress(id, left)}\n`);
    said = state;
    await host.pause(Math.min(POLL_MS, leftMs));
  }
}

async function readLeft(broker: Broker, id: string): Promise<Listed<ReservationDTO>> {
  const { items, at } = await listReservations(broker);
  return { items: items.filter((item) => item.targetClusterID === id && isLive(item.status.phase)), at };
}

/** Changes with what is left, and every minute while a notice runs. */
function stateOf({ items, at }: Listed<ReservationDTO>): string {
  const minutes = items.map((item) => Math.ceil(((noticeEnd(item) ?? at) - at) / 60_000));
  return `${items.map((item) => item.id).join(" ")} ${Math.max(0, ...minutes)}`;
}

/** `paris still lends 2: rsv-a to rome (notice: ends in 4m), rsv-b to oslo (until it is released)`. */
function progress(id: string, { items, at }: Listed<ReservationDTO>): string {
  const lines = items.map((item) => `${item.id} to ${item.requesterID} (${endOf(item, at)})`);
  return `${id} still lends ${items.length}: ${named(lines)}`;
}

function endOf(item: ReservationDTO, at: number): string {
  const noticeEnds = noticeEnd(item);
  if (noticeEnds !== undefined) return `notice: ends in ${age(noticeEnds - at)}`;
  return item.status.expiresAt === undefined ? "until it is released" : `ends ${expiryOf(item, at)}`;
}

function viewOf(id: string, { items, at }: Listed<ReservationDTO>, host: Host): View {
  const isDrained = items.length === 0;
  return {
    data: { clusterID: id, cordoned: true, drained: isDrained, reservations: items },
    table: (isWide) =>
      isDrained
        ? properties([
            ["Cluster", id],
            ["Lends", "nothing; it stays cordoned"],
          ])
        : table(reservationColumns(at, stylerFor(host)), items, isWide),
    names: [id],
    problem: isDrained
      ? undefined
      : new CommandError(
          "timeout",
          `${id} still lends ${items.length} after the timeout, and stays cordoned. Run it again to go on waiting, or end one: brokerctl release <reservation>`,
        ),
  };
}
