import { cordonCall } from "@resource-broker/client";
import { cordonRequestSchema, type ReservationDTO } from "@resource-broker/contract";
import { isLive } from "@resource-broker/domain";
import type { Host, Run, View } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import { checkReason } from "../cli/reason.ts";
import type { DRAIN_OPTIONS } from "../commands/queue-options.ts";
import { type Broker, type Listed, withBroker } from "../connection/broker.ts";
import { patiently } from "../connection/patience.ts";
import { properties, stylerFor, table } from "../output/print.ts";
import { expiryOf, listReservations, reservationColumns } from "../reservations/reservation.ts";
import { withClusterHint } from "./cluster-view.ts";

const POLL_MS = 2000;
/** How many are named in a line of progress. */
const NAMED = 5;

/** Keeps a cluster from lending anything new, and waits until nothing that it lends is left. Ends nothing itself. */
export const drain: Run<typeof DRAIN_OPTIONS> = async ({ options, words: [id = ""] }, host) => {
  checkReason(options.reason, cordonRequestSchema);
  return withBroker(options, host, async (broker) => {
    await withClusterHint(broker, id, broker.request(cordonCall(id, options.reason)));
    host.note(
      `${id} is cordoned: it lends nothing new. Nothing is ended by force: what it lends ends by itself, or is released\n`,
    );
    const ignore = host.onInterrupt?.(
      () => `\n${id} stays cordoned. To let it lend again: brokerctl uncordon ${id}\n`,
    );
    try {
      return viewOf(id, await whenEmpty(broker, { id, timeoutMs: options.timeout }, host), host);
    } finally {
      ignore?.();
    }
  });
};

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
    const names = left.items.map((item) => item.id).join(" ");
    if (names !== said) host.note(`${progress(id, left)}\n`);
    said = names;
    await host.pause(Math.min(POLL_MS, leftMs));
  }
}

async function readLeft(broker: Broker, id: string): Promise<Listed<ReservationDTO>> {
  const { items, at } = await listReservations(broker);
  return { items: items.filter((item) => item.targetClusterID === id && isLive(item.status.phase)), at };
}

/** `paris still lends 2: rsv-a to rome (ends in 29m), rsv-b to oslo (until it is released)`. */
function progress(id: string, { items, at }: Listed<ReservationDTO>): string {
  const named = items.slice(0, NAMED).map((item) => `${item.id} to ${item.requesterID} (${endOf(item, at)})`);
  const more = items.length - named.length;
  return `${id} still lends ${items.length}: ${[...named, ...(more > 0 ? [`and ${more} more`] : [])].join(", ")}`;
}

function endOf(item: ReservationDTO, at: number): string {
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
