import { Fault } from "@resource-broker/base";
import { reservationCall, reservationPages } from "@resource-broker/client";
import type { ReservationDTO } from "@resource-broker/contract";
import { didYouMean } from "../cli/did-you-mean.ts";
import { CommandError } from "../cli/exit-code.ts";
import { type Answer, type Broker, type Listed, listAll } from "../connection/broker.ts";

/** An admin's: all of them; a cluster's: those it is party to. */
export function listReservations(broker: Broker): Promise<Listed<ReservationDTO>> {
  return listAll(broker, reservationPages());
}

export async function readReservation(broker: Broker, id: string): Promise<Answer<ReservationDTO>> {
  return withHint(broker, id, () => broker.request(reservationCall(id)));
}

/** A reservation that is not there may be one that was misspelt. */
export async function withHint<T>(broker: Broker, id: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Fault && error.code === "not-found")
      throw await unknownReservation(broker, id, error);
    throw error;
  }
}

async function unknownReservation(broker: Broker, id: string, cause: Fault): Promise<CommandError> {
  const { items } = await listReservations(broker).catch(() => ({ items: [] }));
  const hint = await didYouMean(
    id,
    items.map((item) => item.id),
  );
  const { name, isAdmin } = broker.credentials;
  const whose = isAdmin ? "here" : `that ${name} is party to`;
  const more =
    hint === "" ? ". Ended ones are kept for a day; brokerctl get reservations --all lists them" : hint;
  return new CommandError("error", `there is no reservation ${JSON.stringify(id)} ${whose}${more}`, {
    cause,
  });
}
