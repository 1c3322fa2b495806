import { Fault, isRecord } from "@resource-broker/base";
import {
  type AdoptionReplyDTO,
  describeProblems,
  type Mapped,
  type Schema,
  validate,
} from "@resource-broker/contract";
import type { AdoptionOffer, ClusterId, Reply, Reservation } from "@resource-broker/domain";

/** The body as its schema describes it; throws a Fault that names every wrong field. */
export function checked<T>(schema: Schema<T>, body: unknown): T {
  return valueOf(validate(schema, body));
}

/** What a mapping made of a valid body; only sizes can still be wrong. */
export function valueOf<T>(mapped: Mapped<T>): T {
  if (mapped.ok) return mapped.value;
  throw new Fault("invalid", describeProblems(mapped.problems));
}

/** The reservation after a call about it; throws the Fault that the ledger answered with. */
export function reservationIn(reply: Reply): Reservation {
  if (reply.kind === "current") return reply.reservation;
  throw faultOf(reply);
}

/** The fault of a rejected command. Any other reply is a bug. */
export function faultOf(reply: Reply): Fault {
  if (reply.kind === "rejected") return new Fault(reply.code, reply.message);
  return new Fault("internal", `the ledger answered with ${reply.kind}, which this call does not know`);
}

/** Without all of these a price cannot be compared with another. */
const NEEDED = ["cpuCost", "memoryCost", "currency"] as const;

/**
 * Removes an incomplete price, so that the capacity of the advertisement still counts. Returns the body unchanged if the
 * price is complete, absent, or not an object.
 */
export function withoutIncompleteCost(body: unknown): unknown {
  if (!isRecord(body) || !isRecord(body["cost"])) return body;
  const stated = body["cost"];
  if (NEEDED.every((name) => stated[name] !== undefined && stated[name] !== "")) return body;
  const { cost: _, ...rest } = body;
  return rest;
}

type PendingOutcome = Pick<AdoptionReplyDTO["results"][number], "outcome" | "message">;

/** The reply to an offer that is not decided yet. */
export function pendingOutcome(
  { waitsFor }: Extract<Reply, { readonly kind: "adoption-offered" }>,
  { by, offer }: { readonly by: ClusterId; readonly offer: AdoptionOffer },
): PendingOutcome {
  const other = by === offer.requester ? offer.provider : offer.requester;
  switch (waitsFor) {
    case "other-party":
      return { outcome: "waiting", message: `waits for ${other} to report the same hold` };
    case "advertisement":
      return { outcome: "waiting", message: `waits for ${offer.provider} to advertise what it has` };
    case "admin":
      return { outcome: "disputed", message: `${other} reports it differently; an admin must decide` };
  }
}
