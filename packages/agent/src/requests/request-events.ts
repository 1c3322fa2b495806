import type { ResourceRequest } from "@resource-broker/contract";
import type { EventReason } from "../events/reasons.ts";
import type { ObjectEvent } from "../events/tell.ts";
import { WRONG_ANSWER } from "./plan-answer.ts";
import type { RequestStatus } from "./request-status.ts";

/** The event for a change of a request's status; undefined when nothing changed. */
export function eventFor(request: ResourceRequest, now: RequestStatus): ObjectEvent | undefined {
  const before = request.status;
  const reason = reasonOf(now);
  if (reason === undefined || reason === (before && reasonOf(before))) return undefined;
  const isGood = reason === "Reserved" || now.phase === "Released";
  const message = [now.message, now.explanation].filter((part) => part !== undefined).join("\n");
  return { regarding: request, type: isGood ? "Normal" : "Warning", reason, message };
}

const BY_CONDITION: Readonly<Record<string, EventReason>> = {
  Queued: "Queued",
  ProviderRefused: "ProviderRefused",
  BrokerUnreachable: "BrokerUnavailable",
  BrokerUnavailable: "BrokerUnavailable",
  BrokerBusy: "BrokerUnavailable",
  BrokerRefusesAgent: "BrokerUnavailable",
  UnknownToBroker: "UnknownToBroker",
  [WRONG_ANSWER]: "WrongAnswer",
};

function reasonOf({ phase, reservationName, conditions = [] }: RequestStatus): EventReason | undefined {
  const condition = conditions.find(({ type }) => type === "Reserved")?.reason ?? "";
  if (phase === "Failed" || phase === "Released") return reservationName === undefined ? "Refused" : "Ended";
  return BY_CONDITION[condition] ?? (phase === "Pending" ? undefined : "Reserved");
}
