import type { AdoptionOffer } from "@resource-broker/domain";
import { parseTime } from "../schema/time.ts";
import type { AdoptionRequestDTO } from "../wire/adoption.ts";
import { amountReader, type Mapped } from "./amounts.ts";
import { present } from "./present.ts";

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
