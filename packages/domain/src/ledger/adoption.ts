import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import type { Reservation } from "../reservation/reservation.ts";
import { equals } from "../resources/resource-vector.ts";
import type { AdoptionOffer } from "./adoption-offer.ts";
import { type Adopt, type Outcome, rejected } from "./command.ts";
import type { LedgerEvent } from "./event.ts";
import type { Ledger, LedgerView } from "./ledger.ts";

/** One party's word stands this long while the ledger waits for the other's. */
const OFFER_STANDS_MS = 60 * 60 * 1000;
/** So that one cluster's offers cannot fill the broker's memory. */
const MAX_OFFERS_PER_CLUSTER = 10_000;

/**
 * A broker that lost its memory takes a hold back in when requester and provider report the same parties and
 * amounts, or when an admin says so. Capacity is not checked: the hold exists in the provider's cluster either way.
 */
export function decideAdopt(ledger: LedgerView, { by, offer }: Adopt, now: Instant): Outcome {
  const isParty = by.clusterId === offer.requester || by.clusterId === offer.provider;
  if (!isParty && !by.isAdmin) return rejected("forbidden", `${by.clusterId} is not a party of ${offer.id}`);
  if (offer.requester === offer.provider) return rejected("invalid", "a cluster cannot lend to itself");
  const known = ledger.reservations.get(offer.id);
  if (known !== undefined) return decideKnown(known, offer);
  if (offer.expiresAt !== undefined && offer.expiresAt <= now) {
    return rejected("already-ended", `${offer.id} expired at ${new Date(offer.expiresAt).toISOString()}`);
  }
  return by.isAdmin ? adopt(offer, now) : decideOffer(ledger, { by: by.clusterId, offer, now });
}

export function applyOffer(ledger: Ledger, event: Extract<LedgerEvent, { kind: "adoption-offered" }>): void {
  const { by, offer, at } = event;
  const offers = ledger.offers.get(by) ?? new Map<ReservationId, AdoptionOffer>();
  ledger.offers.set(by, offers.set(offer.id, offer));
  ledger.deadlines.set({ at: at + OFFER_STANDS_MS, kind: "adoption-offer", id: offerName(by, offer.id) });
}

export function withdrawOffer(ledger: Ledger, by: ClusterId, id: ReservationId): void {
  const offers = ledger.offers.get(by);
  if (offers?.delete(id) !== true) return;
  if (offers.size === 0) ledger.offers.delete(by);
  ledger.deadlines.remove("adoption-offer", offerName(by, id));
}

/** The party and the reservation an adoption deadline is about. */
export function parseOfferName(name: string): { readonly by: ClusterId; readonly id: ReservationId } {
  const [by = "", id = ""] = name.split("\n");
  return { by, id };
}

/** Cluster IDs hold no line break, so the two parts can be told apart again. */
function offerName(by: ClusterId, id: ReservationId): string {
  return `${by}\n${id}`;
}

function decideKnown(known: Reservation, offer: AdoptionOffer): Outcome {
  if (known.requester !== offer.requester || known.provider !== offer.provider) {
    return rejected("ledger-conflict", `${offer.id} is known with other parties`);
  }
  return { events: [], reply: { kind: "current", reservation: known, isReplay: false } };
}

function decideOffer(
  ledger: LedgerView,
  { by, offer, now }: { readonly by: ClusterId; readonly offer: AdoptionOffer; readonly now: Instant },
): Outcome {
  const otherParty = by === offer.requester ? offer.provider : offer.requester;
  const other = ledger.offers.get(otherParty)?.get(offer.id);
  if (other !== undefined && agree(offer, other)) {
    const [fromRequester, fromProvider] = by === offer.requester ? [offer, other] : [other, offer];
    return adopt(merge(fromRequester, fromProvider), now);
  }
  const own = ledger.offers.get(by);
  if (own !== undefined && own.size >= MAX_OFFERS_PER_CLUSTER && !own.has(offer.id)) {
    return rejected("ledger-conflict", `${by} already offers ${own.size} holds that nobody confirmed`);
  }
  return {
    events: [{ kind: "adoption-offered", at: now, by, offer }],
    reply: { kind: "adoption-offered", isDisputed: other !== undefined },
  };
}

function agree(a: AdoptionOffer, b: AdoptionOffer): boolean {
  return a.requester === b.requester && a.provider === b.provider && equals(a.granted, b.granted);
}

/** Key and phase are the requester's to tell; the expiry is that of the party which heard the broker last. */
function merge(fromRequester: AdoptionOffer, fromProvider: AdoptionOffer): AdoptionOffer {
  const newer = fromProvider.generation > fromRequester.generation ? fromProvider : fromRequester;
  const { expiresAt: _, ...rest } = fromRequester;
  return {
    ...rest,
    generation: newer.generation,
    ...(newer.expiresAt === undefined ? {} : { expiresAt: newer.expiresAt }),
  };
}

function adopt(offer: AdoptionOffer, now: Instant): Outcome {
  const { generation, granted, ...rest } = offer;
  const reservation: Reservation = {
    ...rest,
    granted,
    request: { resources: granted, priority: 0, constraints: {}, tier: "on-demand" },
    reservedAt: now,
    acknowledged: true,
    // Above what both agents hold, so that neither takes the adopted state for old news.
    generation: generation + 1,
  };
  return {
    events: [{ kind: "adopted", at: now, reservation }],
    reply: { kind: "current", reservation, isReplay: false },
  };
}
