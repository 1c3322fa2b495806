import type { ReservationDTO } from "@resource-broker/contract";
import { isLive } from "@resource-broker/domain";
import type { Run, Values } from "../cli/command.ts";
import { type Broker, type Listed, withBroker } from "../connection/broker.ts";
import { stylerFor } from "../output/colour.ts";
import { type Listing, printListing } from "../output/listing.ts";
import type { GET_RESERVATIONS_OPTIONS } from "./options.ts";
import { listReservations, readReservation } from "./read-reservations.ts";
import { reservationColumns, wideReservationColumns } from "./reservation-columns.ts";
import { reservationIdIn } from "./reservation-id.ts";

type Options = Values<typeof GET_RESERVATIONS_OPTIONS>;

export const getReservations: Run<typeof GET_RESERVATIONS_OPTIONS> = async ({ options, words }, host) => {
  const [word] = words;
  const id = word === undefined ? undefined : reservationIdIn(word);
  const styled = stylerFor(host);
  const shown = new Set<string>();
  await withBroker(options, host, async (broker) => {
    const look = async (): Promise<Listing<ReservationDTO>> => {
      const { items: found, at } = await read(broker, id);
      // A watch also shows the end of reservations that were listed before.
      const items = found.filter((item) => id !== undefined || shown.has(item.id) || isWanted(item, options));
      for (const item of items) shown.add(item.id);
      return {
        items,
        dataOf: (item) => item,
        nameOf: (item) => item.id,
        fingerprintOf: (item) => JSON.stringify(item),
        columns: reservationColumns(at, styled),
        wideColumns: wideReservationColumns(at, styled),
        whenEmpty: whenEmpty(found, options),
      };
    };
    await printListing(look, options, host);
  });
};

async function read(broker: Broker, id: string | undefined): Promise<Listed<ReservationDTO>> {
  if (id === undefined) return listReservations(broker);
  const { value, at } = await readReservation(broker, id);
  return { items: [value], at };
}

function isWanted(item: ReservationDTO, { requester, provider, phase, all }: Options): boolean {
  if (requester !== undefined && item.requesterID !== requester) return false;
  if (provider !== undefined && item.targetClusterID !== provider) return false;
  if (phase !== undefined) return item.status.phase === phase;
  return all || isLive(item.status.phase);
}

function whenEmpty(found: readonly ReservationDTO[], options: Options): string {
  const ended = found.filter(({ status }) => !isLive(status.phase)).length;
  if (found.length === 0) return "There is no reservation.";
  return ended === found.length && options.phase === undefined
    ? `Nothing is reserved now; --all shows what has ended (${ended}).`
    : "No reservation matches.";
}
