import { describeResources, formatTime, parseTime, truncate } from "@resource-broker/base";
import { type AdoptionOffer, isLive, type Reservation } from "@resource-broker/domain";
import type { SliceDefaults } from "../policy/policy-mapping.ts";
import type { AdoptionRequestDTO } from "../wire/adoption.ts";
import { MAX_MESSAGE_LENGTH, type ReservationDTO } from "../wire/reservation.ts";
import { amountReader, type Mapped, toQuantities } from "./amounts.ts";
import { fromReservationCost } from "./cost.ts";
import { present } from "./present.ts";

/** The recipient of a reservation, and values that are not in the ledger. */
export interface ReservationView {
  readonly role: "requester" | "provider" | "admin";
  /** Older agents act on the phase Reserved only: a live reservation is always shown so. */
  readonly isOlderAgent?: boolean;
  readonly requesterDataPlaneId?: string;
  readonly providerDataPlaneId?: string;
  readonly providerEndpoint?: string;
  /** Of the policy in force, where they are not the built-in ones. */
  readonly sliceDefaults?: SliceDefaults;
}

export function fromReservation(reservation: Reservation, view: ReservationView): ReservationDTO {
  const { cost, expiresAt, endedAt, phase, request } = reservation;
  return present({
    id: reservation.id,
    requesterID: reservation.requester,
    targetClusterID: reservation.provider,
    requestedResources: toQuantities(reservation.granted),
    status: present({
      phase: view.isOlderAgent === true && isLive(phase) ? "Reserved" : phase,
      message: truncate(reservationMessage(reservation, view.role), MAX_MESSAGE_LENGTH),
      reservedAt: formatTime(reservation.reservedAt),
      expiresAt: expiresAt === undefined ? undefined : formatTime(expiresAt),
    }),
    createdAt: formatTime(reservation.createdAt),
    endedAt: endedAt === undefined ? undefined : formatTime(endedAt),
    reason: reservation.reason,
    cost: cost && fromReservationCost(cost),
    generation: reservation.generation,
    // A key concerns the requester and the broker only: the provider and admins have no use for it.
    key: view.role === "requester" ? reservation.key : undefined,
    requesterLiqoID: view.requesterDataPlaneId,
    targetLiqoID: view.providerDataPlaneId,
    targetClusterEndpoint: view.providerEndpoint,
    tier: request.tier,
    priority: request.priority,
    preempting: fromNotice(reservation),
    tenant: view.role === "provider" ? undefined : reservation.tenant,
    decisionID: reservation.decisionId,
    sliceDefaults: view.sliceDefaults,
  });
}

/** Who gets its capacity is for admins, who find it in the audit log. */
function fromNotice({ phase, preemption }: Reservation): ReservationDTO["preempting"] {
  if (preemption === undefined || !isLive(phase)) return undefined;
  return present({ at: formatTime(preemption.at), byPriority: preemption.priority });
}

/** The status message: "Use paris for 4 CPU / 8Gi Memory", "Hold 4 CPU / 8Gi Memory for requester rome". */
export function reservationMessage(reservation: Reservation, role: ReservationView["role"]): string {
  const { phase, reason, message, granted, provider, requester } = reservation;
  const what = describeResources(granted);
  if (!isLive(phase)) {
    const why = [reason, message].filter((part) => part !== undefined).join(": ");
    return why === "" ? phase : `${phase} (${why})`;
  }
  if (role === "provider") return `Hold ${what} for requester ${requester}`;
  return role === "requester" ? `Use ${provider} for ${what}` : `${provider} lends ${what} to ${requester}`;
}

/** The reservations that an agent offers for adoption. */
export function toAdoptionOffers(dto: AdoptionRequestDTO): Mapped<readonly AdoptionOffer[]> {
  const reader = amountReader();
  const offers = dto.reservations.map((offer, index): AdoptionOffer => {
    const path = `reservations[${index}].requestedResources`;
    return present({
      id: offer.id,
      requester: offer.requesterID,
      provider: offer.targetClusterID,
      granted: reader.roundedUp(offer.requestedResources, path),
      phase: offer.phase,
      generation: offer.generation,
      createdAt: parseTime(offer.createdAt) ?? 0,
      expiresAt: offer.expiresAt === undefined ? undefined : parseTime(offer.expiresAt),
      key: offer.key,
    });
  });
  return reader.finish(offers);
}
