import { truncate } from "@resource-broker/base";
import { type AdoptionReplyDTO, type AdoptionRequestDTO, LIMIT } from "@resource-broker/contract";
import type { Reservation } from "@resource-broker/contract/crd";
import { type Offer, offerManifest } from "./manifests.ts";
import { currentReservation, type ObjectCalls } from "./object-calls.ts";

type Result = AdoptionReplyDTO["results"][number];

/** The client has as many connections. */
const OFFERS_AT_ONCE = 8;

/** Offers reservations to the broker for adoption: each offer is an object that exists until it is answered. */
export function adoption(objects: ObjectCalls) {
  const { scope } = objects;
  const { clusterId } = scope;

  /** An offer without an answer. An answered offer is created again, because the other party may have offered since. */
  const offered = async (offer: Offer, cleared: Set<string | undefined>, signal: AbortSignal) => {
    const name = `${offer.id}-offer-${clusterId}`;
    const found = await objects.find(name, signal);
    const isNew = found !== undefined && found.status?.outcome === undefined;
    if (isNew && !cleared.has(found.metadata.uid)) return found;
    if (found !== undefined) {
      cleared.add(found.metadata.uid);
      await objects.remove(found.metadata, signal);
    }
    return objects.create(offerManifest(scope, name, offer), signal);
  };

  const offerOne = async (offer: Offer, signal: AbortSignal): Promise<Result> => {
    const role = offer.requesterID === clusterId ? "requester" : "provider";
    const cleared = new Set<string | undefined>();
    const answer = await objects.watchOf(role).waitFor({
      name: `${offer.id}-offer-${clusterId}`,
      begin: () => offered(offer, cleared, signal),
      signal,
      evaluate: ({ object }) =>
        object === undefined || cleared.has(object.metadata.uid) ? undefined : outcomeIn(object),
    });
    if (answer.outcome !== "adopted") return { id: offer.id, ...answer };
    // The reservation is in the ledger and its object appears in a moment: later calls should find it.
    const reservation = await objects.watchOf(role).waitFor({
      name: offer.id,
      begin: () => objects.find(offer.id, signal),
      signal,
      evaluate: ({ object }) => object && currentReservation(objects, object, role),
    });
    return { id: offer.id, ...answer, reservation };
  };

  const adopt = async ({ reservations }: AdoptionRequestDTO): Promise<AdoptionReplyDTO> => {
    const waiting = [...reservations.entries()];
    const results: Result[] = [];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [position, offer] = next;
        results[position] = await objects.answered((signal) => offerOne(offer, signal));
      }
    };
    await Promise.all(Array.from({ length: OFFERS_AT_ONCE }, work));
    return { results };
  };

  return { adopt };
}

function outcomeIn({ status = {} }: Reservation): Pick<Result, "outcome" | "message"> | undefined {
  const { outcome, message = "" } = status;
  return outcome && { outcome, message: truncate(message, LIMIT.reasonLength) };
}
