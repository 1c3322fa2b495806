import { type AdoptionRequestDTO, LIMIT } from "@resource-broker/contract";

type Offer = AdoptionRequestDTO["reservations"][number];

/** Reserve for the JSON around the offers. */
const MOST_BYTES = LIMIT.bodyBytes - 1024;

/** Splits the offers into requests below the broker's size limit, in order. */
export function* batchesOf({ reservations, ...rest }: AdoptionRequestDTO): Generator<AdoptionRequestDTO> {
  let batch: Offer[] = [];
  let bytes = 0;
  for (const offer of reservations) {
    const size = Buffer.byteLength(JSON.stringify(offer)) + 1;
    const isFull = bytes + size > MOST_BYTES || batch.length === LIMIT.adoptionOffers;
    if (isFull && batch.length > 0) {
      yield { ...rest, reservations: batch };
      batch = [];
      bytes = 0;
    }
    batch.push(offer);
    bytes += size;
  }
  if (batch.length > 0) yield { ...rest, reservations: batch };
}
