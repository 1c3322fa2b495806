import { type Disclosure, fromDecision, fromReservationCost, toRefusals } from "@resource-broker/contract";
import {
  type AdoptionOffer,
  type ClusterId,
  type Decision,
  headline,
  type Reply,
} from "@resource-broker/domain";
import { faultOf } from "../../shared/checked.ts";
import { pendingOutcome } from "../../shared/pending-outcome.ts";
import type { Refusal, ReservationStatus } from "../builders/reservation-status.ts";
import { decisionText } from "../builders/texts.ts";

/** The explanation has all of them. */
const MAX_REASONS = 8;

/** The refusal of a request; undefined if it was granted. */
export function refusalIn(reply: Reply, disclosure: Disclosure): Refusal | undefined {
  switch (reply.kind) {
    case "granted":
    case "current":
      return undefined;
    case "refused":
      return {
        code: "no-capacity",
        reason: "NoCapacity",
        message: shortReason(reply.decision, disclosure),
        explanation: fromDecision(reply.decision, disclosure).explanation,
        decisionId: reply.decision.id,
      };
    case "rejected": {
      const { code, message } = reply;
      return { code, message, reason: code === "quota-exceeded" ? "NoCapacity" : "Invalid" };
    }
    default:
      throw faultOf(reply);
  }
}

/** The headline, and why each cluster was passed over: as much as one line can hold. */
function shortReason(decision: Decision, disclosure: Disclosure): string {
  const reasons = toRefusals(decision, disclosure)
    .slice(0, MAX_REASONS)
    .map(({ clusterID, message }) => `${clusterID}: ${message}`);
  return `${headline(decision)} ${reasons.join("; ")}`.trim();
}

/** What would happen. */
export function quoteStatus(reply: Reply, disclosure: Disclosure): ReservationStatus {
  if (reply.kind === "rejected") return { fits: false, code: reply.code, message: reply.message };
  if (reply.kind !== "granted" && reply.kind !== "refused") throw faultOf(reply);
  const { decision } = reply;
  const cost = reply.kind === "granted" ? reply.reservation.cost : undefined;
  return {
    fits: reply.kind === "granted",
    message: reply.kind === "granted" ? headline(decision) : shortReason(decision, disclosure),
    ...(cost === undefined ? {} : { cost: fromReservationCost(cost) }),
    ...decisionText(decision, disclosure),
  };
}

/** The status after a key was closed. */
export function keyClosedStatus(reply: Reply): ReservationStatus {
  const released = { phase: "Released", reason: "ReleasedByRequester" } as const;
  if (reply.kind === "key-closed")
    return { ...released, message: "No request with this key is served for a day." };
  if (reply.kind === "current") {
    const { id } = reply.reservation;
    return { ...released, reservationID: id, message: `${id} is released, and its key is closed for a day.` };
  }
  if (reply.kind !== "rejected") throw faultOf(reply);
  return { phase: "Failed", reason: "Invalid", code: reply.code, message: reply.message };
}

export interface AdoptionCall {
  readonly by: ClusterId;
  readonly offer: AdoptionOffer;
}

/** The status of a reservation that was offered for adoption. */
export function adoptionStatus(reply: Reply, { by, offer }: AdoptionCall): ReservationStatus {
  if (reply.kind === "current") return { outcome: "adopted", message: "It is in the ledger." };
  if (reply.kind === "rejected") return { outcome: "refused", code: reply.code, message: reply.message };
  if (reply.kind !== "adoption-offered") throw faultOf(reply);
  return pendingOutcome(reply, { by, offer });
}
