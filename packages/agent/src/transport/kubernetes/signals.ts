import { type Condition, RESERVATION_CONDITION } from "@resource-broker/contract";

/** A condition that a party sets on a reservation. */
export type PartyCondition = Pick<Condition, "type" | "status" | "reason" | "message">;

const { requesterActive, requesterReleased, providerHolding } = RESERVATION_CONDITION;

export function activeCondition(clusterId: string): PartyCondition {
  return { type: requesterActive, status: "True", reason: "InUse", message: `${clusterId} uses it` };
}

export function releasedCondition(clusterId: string): PartyCondition {
  const message = `${clusterId} no longer needs it`;
  return { type: requesterReleased, status: "True", reason: "Released", message };
}

export function holdingCondition(clusterId: string): PartyCondition {
  return { type: providerHolding, status: "True", reason: "Held", message: `${clusterId} holds it` };
}

export function refusedCondition(message: string): PartyCondition {
  return { type: providerHolding, status: "False", reason: "Refused", message };
}
