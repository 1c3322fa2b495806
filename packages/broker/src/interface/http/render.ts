import { fromReservation, type ReservationDTO, type ReservationView } from "@resource-broker/contract";
import type { Actor, Reservation } from "@resource-broker/domain";
import type { Engine } from "../../engine/engine.ts";

type Ledger = Engine["ledger"];

/** To whom a reservation is told. */
export type Reader = Pick<ReservationView, "role" | "isOlderAgent">;

export function renderReservation(ledger: Ledger, reservation: Reservation, reader: Reader): ReservationDTO {
  const requesterLiqo = ledger.accounts.get(reservation.requester)?.advertisement?.liqo;
  const provider = ledger.accounts.get(reservation.provider)?.advertisement;
  return fromReservation(reservation, {
    ...reader,
    ...(requesterLiqo === undefined ? {} : { requesterLiqoId: requesterLiqo.clusterId }),
    ...(provider?.liqo === undefined ? {} : { providerLiqoId: provider.liqo.clusterId }),
    ...(provider?.endpointUrl === undefined ? {} : { providerEndpoint: provider.endpointUrl }),
  });
}

/** An admin may be a party as well, and is then told as one. */
export function roleOf({ clusterId }: Actor, { requester, provider }: Reservation): Reader["role"] {
  if (clusterId === requester) return "requester";
  return clusterId === provider ? "provider" : "admin";
}

/** A reservation exists only for its parties and for admins. */
export function isVisible(caller: Actor, reservation: Reservation): boolean {
  return caller.isAdmin || roleOf(caller, reservation) !== "admin";
}

/** What a provider has to hold. Older agents act on the phase Reserved only. */
export function renderInstructions(
  ledger: Ledger,
  clusterId: string,
  isOlderAgent: boolean,
): ReservationDTO[] {
  const lending = ledger.accounts.get(clusterId)?.lending.values() ?? [];
  return Array.from(lending, (reservation) =>
    renderReservation(ledger, reservation, { role: "provider", isOlderAgent }),
  );
}
