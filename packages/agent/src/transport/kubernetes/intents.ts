import { Fault, isFaultCode, type Log, toFault, truncate } from "@resource-broker/base";
import {
  type AdoptionReplyDTO,
  type AdoptionRequestDTO,
  LIMIT,
  type QuoteDTO,
  type ReservationRequestDTO,
} from "@resource-broker/contract";
import type { Reservation } from "@resource-broker/contract/crd";
import { type Offer, offerManifest, quoteManifest } from "./manifests.ts";
import { currentReservation, type ObjectCalls } from "./object-calls.ts";
import { checkedRequest, decisionIn } from "./read-reservation.ts";

type Result = AdoptionReplyDTO["results"][number];

const NAME_BYTES = 8;
const DELETE_TIMEOUT_MS = 10_000;
/** The client has as many connections. */
const OFFERS_AT_ONCE = 8;

export interface IntentDeps {
  readonly randomBytes: (size: number) => Uint8Array;
  readonly log: Log;
}

/** Questions to the broker: each is an object that exists until it is answered. */
export function intents(objects: ObjectCalls, { randomBytes, log }: IntentDeps) {
  const { scope, calls } = objects;
  const { clusterId } = scope;

  const quote = async (request: ReservationRequestDTO): Promise<QuoteDTO> => {
    checkedRequest(request);
    const name = `quote-${clusterId}-${Buffer.from(randomBytes(NAME_BYTES)).toString("hex")}`;
    return objects.answered(async (signal) => {
      const begin = async (): Promise<Reservation> =>
        (await objects.find(name, signal)) ?? objects.create(quoteManifest(scope, { name, request }), signal);
      try {
        const evaluate = ({ object }: { readonly object: Reservation | undefined }) => quoteIn(object);
        return await objects.watchOf("requester").waitFor({ name, begin, evaluate, signal });
      } finally {
        void deleteQuote(name);
      }
    });
  };

  /** The object is deleted in any case; the broker removes it if that fails. */
  const deleteQuote = async (name: string): Promise<void> => {
    try {
      await calls.within(DELETE_TIMEOUT_MS, (signal) => objects.remove({ name }, signal));
    } catch (error) {
      log.warn(
        { quote: name, error: toFault(error).message },
        "a quote's object is left for the broker to remove",
      );
    }
  };

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

  return { quote, adopt };
}

function quoteIn(object: Reservation | undefined): QuoteDTO | undefined {
  const { fits, code, message = "", cost, decision: text } = object?.status ?? {};
  if (code !== undefined) throw new Fault(isFaultCode(code) ? code : "invalid", message);
  if (fits === undefined) return undefined;
  const decision = decisionIn(text);
  if (decision === undefined)
    throw new Fault("too-large", "the decision is too large to be told by an object");
  return {
    fits,
    ...(decision.winner === undefined ? {} : { targetClusterID: decision.winner }),
    ...(cost === undefined ? {} : { cost }),
    decision,
  };
}

function outcomeIn({ status = {} }: Reservation): Pick<Result, "outcome" | "message"> | undefined {
  const { outcome, message = "" } = status;
  return outcome && { outcome, message: truncate(message, LIMIT.reasonLength) };
}
