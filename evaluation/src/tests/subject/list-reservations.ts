import { readAll, reservationPages } from "@resource-broker/client";
import type { ReservationDTO } from "@resource-broker/contract";
import type { BrokerProcess } from "@resource-broker/testkit";

/** All of them, as an admin sees them. */
export function listReservations(broker: BrokerProcess): Promise<readonly ReservationDTO[]> {
  return readAll(broker.api(), reservationPages());
}
