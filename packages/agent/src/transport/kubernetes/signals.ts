import { type Condition, RESERVATION_CONDITION } from "@resource-broker/contract";

/** A condition that a party sets on a reservation. */
export type Signal = Pick<Condition, "type" | "status" | "reason" | "message">;

const { requesterActive, requesterReleased, providerHolding } = RESERVATION_CONDITION;

export function inUse(clusterId: string): Signal {
  return { type: requesterActive, status: "True", reason: "InUse", message: `${clusterId} uses it` };
}

export function released(clusterId: string): Signal {
  const message = `${clusterId} no longer needs it`;
  return { type: requesterReleased, status: "True", reason: "Released", message };
}

export function holding(clusterId: string): Signal {
  return { type: providerHolding, status: "True", reason: "Held", message: `${clusterId} holds it` };
}

export function refusing(message: string): Signal {
  return { type: providerHolding, status: "False", reason: "Refused", message };
}
