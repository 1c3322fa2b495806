import { type CapacityEventDTO, LIMIT, truncate } from "@resource-broker/contract";
import { type ClusterId, describeResources, type ReservationId } from "@resource-broker/domain";
import type { Engine } from "../../../engine/engine.ts";
import { eventText } from "./event-text.ts";

/** Events for the parties of an overcommitted provider; each party gets its own reservations only. */
export function riskEvents(ledger: Engine["ledger"], provider: ClusterId): Map<ClusterId, string> {
  const account = ledger.accounts.get(provider);
  const touched = new Map<ClusterId, ReservationId[]>();
  for (const { id, requester } of account?.asProvider.values() ?? []) {
    for (const party of [provider, requester]) {
      const ids = touched.get(party);
      if (ids === undefined) touched.set(party, [id]);
      else if (ids.length < LIMIT.capacityIds) ids.push(id);
    }
  }
  const missing = account === undefined ? "" : describeResources(account.overcommitted);
  const message = truncate(`${provider} has ${missing} less than it lends`, LIMIT.reasonLength);
  return new Map(
    Array.from(touched, ([party, ids]) => {
      const event: CapacityEventDTO = { change: "at-risk", reservationIDs: ids, message };
      return [party, eventText("capacity", event)];
    }),
  );
}
