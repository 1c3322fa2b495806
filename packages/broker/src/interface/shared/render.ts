import { fromReservation, type ReservationDTO, type ReservationView } from "@resource-broker/contract";
import type { Actor, ClusterId, Reservation } from "@resource-broker/domain";
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

export interface InstructionReader {
  readonly clusterId: ClusterId;
  readonly isOlderAgent: boolean;
}

/** What a provider has to hold, at most `limit` of it. Older agents act on the phase Reserved only. */
export function renderInstructions(
  ledger: Ledger,
  { clusterId, isOlderAgent }: InstructionReader,
  limit: number,
): ReservationDTO[] {
  const reader = { role: "provider", isOlderAgent } as const;
  const instructions: ReservationDTO[] = [];
  for (const reservation of ledger.accounts.get(clusterId)?.lending.values() ?? []) {
    if (instructions.length === limit) break;
    instructions.push(renderReservation(ledger, reservation, reader));
  }
  return instructions;
}
