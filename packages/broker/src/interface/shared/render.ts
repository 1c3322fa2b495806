import {
  DEFAULT_SLICE,
  fromReservation,
  type ReservationDTO,
  type ReservationView,
  type SliceDefaults,
} from "@resource-broker/contract";
import type { Actor, ClusterId, Reservation } from "@resource-broker/domain";
import type { Engine } from "../../engine/engine.ts";
import { dataPlaneId } from "./advertised-account.ts";

/** The state that reservations are rendered from. */
export interface RenderContext {
  readonly ledger: Engine["ledger"];
  /** Of the policy in force. Absent: the built-in ones. */
  readonly sliceDefaults?: SliceDefaults;
}

/** The party that a reservation is rendered for. */
export type Reader = Pick<ReservationView, "role" | "isOlderAgent">;

export function renderReservation(
  context: RenderContext,
  reservation: Reservation,
  reader: Reader,
): ReservationDTO {
  const { ledger } = context;
  const requesterDataPlaneId = dataPlaneId(ledger.accounts.get(reservation.requester)?.advertisement);
  const provider = ledger.accounts.get(reservation.provider)?.advertisement;
  const providerDataPlaneId = dataPlaneId(provider);
  return fromReservation(reservation, {
    ...reader,
    ...(requesterDataPlaneId === undefined ? {} : { requesterDataPlaneId }),
    ...(providerDataPlaneId === undefined ? {} : { providerDataPlaneId }),
    ...(provider?.endpointUrl === undefined ? {} : { providerEndpoint: provider.endpointUrl }),
    ...nonDefaultSlice(context),
  });
}

/** Omits built-in slice defaults: agents use them if none are sent. */
function nonDefaultSlice({
  sliceDefaults = DEFAULT_SLICE,
}: RenderContext): Pick<ReservationView, "sliceDefaults"> {
  const { pods, ephemeralStorage } = sliceDefaults;
  const isDefault = pods === DEFAULT_SLICE.pods && ephemeralStorage === DEFAULT_SLICE.ephemeralStorage;
  return isDefault ? {} : { sliceDefaults };
}

/** An admin that is also a party gets the party's view. */
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

/** Live reservations of a provider, at most `limit`. Older agents act on the phase Reserved only. */
export function renderInstructions(
  context: RenderContext,
  { clusterId, isOlderAgent }: InstructionReader,
  limit: number,
): ReservationDTO[] {
  const reader = { role: "provider", isOlderAgent } as const;
  const instructions: ReservationDTO[] = [];
  for (const reservation of context.ledger.accounts.get(clusterId)?.asProvider.values() ?? []) {
    if (instructions.length === limit) break;
    instructions.push(renderReservation(context, reservation, reader));
  }
  return instructions;
}
