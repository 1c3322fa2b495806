import { formatTime, type UiDecisionRow } from "@resource-broker/contract";
import { type Decision, describeResources } from "@resource-broker/domain";
import { unmetReason } from "../../../metrics/unmet-demand.ts";

export function decisionRow(decision: Decision): UiDecisionRow {
  const { winner } = decision;
  return {
    id: decision.id,
    at: formatTime(decision.at),
    requester: decision.requester,
    winner: winner ?? null,
    considered: decision.considered,
    fitted: decision.fitted,
    asked: describeResources(decision.request.resources),
    reason: winner === undefined ? unmetReason(decision) : null,
  };
}
