import { atLeastZero, describeResources, equals, isZero, shortage, subtract } from "@resource-broker/base";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import type { Reservation } from "../reservation/reservation.ts";
import { reservedFor } from "./account.ts";
import type { AdoptionOffer } from "./adoption-window.ts";
import { type Adopt, type DecisionContext, type Outcome, rejected } from "./command.ts";
import { refuseEvicted } from "./decide-member.ts";
import type { LedgerEvent } from "./event.ts";
import { type Ledger, type LedgerView, providerReservations } from "./ledger.ts";
import { unacceptableOffer } from "./unacceptable-offer.ts";

/** An offer expires after this time when the other party has not reported. */
const OFFER_TTL_MS = 60 * 60 * 1000;
/** Bounds the memory that one cluster's offers can take. */
const MAX_OFFERS_PER_CLUSTER = 10_000;

/**
 * A ledger that lost its data adopts an earlier reservation when requester and provider report the same parties and amounts,
 * or when an admin confirms it. It may exceed the provider's available capacity only as far as the provider's advertisement
 * already reports it as held: that part is counted already.
 */
export function decideAdopt(ledger: LedgerView, { by, offer }: Adopt, context: DecisionContext): Outcome {
  const isParty = by.clusterId === offer.requester || by.clusterId === offer.provider;
  if (!isParty && !by.isAdmin) return rejected("forbidden", `${by.clusterId} is not a party of ${offer.id}`);
  const refusal = isParty ? refuseEvicted(ledger, by.clusterId) : undefined;
  if (refusal !== undefined) return refusal;
  const known = ledger.reservations.get(offer.id);
  if (known !== undefined) return decideKnown(known, offer);
  const problem = unacceptableOffer(ledger, offer, context);
  if (problem !== undefined) return problem;
  return by.isAdmin
    ? (capacityProblem(ledger, offer) ?? adopt({ ...offer, acknowledged: false }, context))
    : decideOffer(ledger, { by, offer }, context);
}

export function applyOffer(ledger: Ledger, event: Extract<LedgerEvent, { kind: "adoption-offered" }>): void {
  const { by, offer, at } = event;
  const offers = ledger.offers.get(by) ?? new Map<ReservationId, AdoptionOffer>();
  ledger.offers.set(by, offers.set(offer.id, offer));
  ledger.deadlines.set({ at: at + OFFER_TTL_MS, kind: "adoption-offer", id: offerName(by, offer.id) });
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

/** Cluster IDs contain no line break, so the two parts can be separated again. */
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
  { by, offer }: Omit<Adopt, "kind">,
  context: DecisionContext,
): Outcome {
  const isRequester = by.clusterId === offer.requester;
  const other = ledger.offers.get(isRequester ? offer.provider : offer.requester)?.get(offer.id);
  if (other === undefined) return offered(ledger, { by, offer, waitsFor: "other-party" }, context);
  if (!offersAgree(offer, other)) return offered(ledger, { by, offer, waitsFor: "admin" }, context);
  if (!hasAdvertised(ledger, offer.provider))
    return offered(ledger, { by, offer, waitsFor: "advertisement" }, context);
  const merged = isRequester ? merge(offer, other) : merge(other, offer);
  return (
    unacceptableOffer(ledger, merged, context) ?? capacityProblem(ledger, merged) ?? adopt(merged, context)
  );
}

type Offered = Omit<Adopt, "kind"> &
  Pick<Extract<Outcome["reply"], { readonly kind: "adoption-offered" }>, "waitsFor">;

function offered(ledger: LedgerView, { by, offer, waitsFor }: Offered, { now }: DecisionContext): Outcome {
  const own = ledger.offers.get(by.clusterId);
  if (own !== undefined && own.size >= MAX_OFFERS_PER_CLUSTER && !own.has(offer.id)) {
    return rejected("quota-exceeded", `${by.clusterId} already offers ${own.size} unconfirmed reservations`);
  }
  return {
    events: [{ kind: "adoption-offered", at: now, by: by.clusterId, offer }],
    reply: { kind: "adoption-offered", waitsFor },
  };
}

function hasAdvertised(ledger: LedgerView, provider: ClusterId): boolean {
  return ledger.accounts.get(provider)?.advertisement !== undefined;
}

/** The part of the reservation that is not counted yet must be available at the provider. */
function capacityProblem(ledger: LedgerView, { id, provider, granted }: AdoptionOffer): Outcome | undefined {
  const account = ledger.accounts.get(provider);
  if (account?.advertisement === undefined)
    return rejected("not-yet", `${provider} has not advertised yet: its capacity is unknown`);
  const counted = reservedFor(id, providerReservations(ledger, account));
  const missing = shortage(atLeastZero(subtract(granted, counted)), account.available);
  if (isZero(missing)) return undefined;
  return rejected(
    "ledger-conflict",
    `${provider} lacks ${describeResources(missing)} for ${id}, and does not report it as held`,
  );
}

function offersAgree(a: AdoptionOffer, b: AdoptionOffer): boolean {
  return a.requester === b.requester && a.provider === b.provider && equals(a.granted, b.granted);
}

/** Key and phase come from the requester. The earlier expiry counts: the requester can renew, but nothing can shorten it. */
function merge(fromRequester: AdoptionOffer, fromProvider: AdoptionOffer): Adoptable {
  const { expiresAt: _, ...rest } = fromRequester;
  const expiresAt = earlier(fromRequester.expiresAt, fromProvider.expiresAt);
  return {
    ...rest,
    generation: Math.max(fromRequester.generation, fromProvider.generation),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    acknowledged: true,
  };
}

/** An accepted offer; `acknowledged` when the provider reported it. */
interface Adoptable extends AdoptionOffer {
  readonly acknowledged: boolean;
}

function adopt(offer: Adoptable, { now, policy }: DecisionContext): Outcome {
  const { generation, granted, expiresAt: offered, ...rest } = offer;
  const expiresAt = earlier(offered, policy.maxTtlMs === undefined ? undefined : now + policy.maxTtlMs);
  const reservation: Reservation = {
    ...rest,
    granted,
    request: { resources: granted, priority: 0, constraints: {}, tier: "on-demand" },
    reservedAt: now,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    // Higher than both agents' generations, so that neither ignores the adopted state as stale.
    generation: generation + 1,
  };
  return {
    events: [{ kind: "adopted", at: now, reservation }],
    reply: { kind: "current", reservation, isReplay: false },
  };
}

function earlier(a: Instant | undefined, b: Instant | undefined): Instant | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
