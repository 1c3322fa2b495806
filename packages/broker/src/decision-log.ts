import { headline, type LedgerEvent } from "@resource-broker/domain";
import type { Log } from "@resource-broker/runtime";
import type { Committed } from "./engine/engine.ts";

/** Logs one line for each decision and each end of a reservation, with its ids. */
export function logCommit({ number, events }: Committed, log: Log): void {
  for (const event of events) logEvent(event, number, log);
}

function logEvent(event: LedgerEvent, commit: number, log: Log): void {
  switch (event.kind) {
    case "granted": {
      const { id, requester, provider } = event.reservation;
      const fields = { commit, reservation: id, decision: event.decision.id, requester, provider };
      return log.info(fields, headline(event.decision));
    }
    case "refused": {
      const { id, requester, refusedBy } = event.decision;
      return log.info({ commit, decision: id, requester, refusedBy }, headline(event.decision));
    }
    case "ended": {
      const { id, reason, message } = event;
      return log.info({ commit, reservation: id, reason, message }, "reservation ended");
    }
    case "adopted": {
      const { id, requester, provider } = event.reservation;
      return log.info({ commit, reservation: id, requester, provider }, "reservation adopted");
    }
    case "cordoned":
      return log.info(
        { commit, cluster: event.clusterId, by: event.cordon.by, why: event.cordon.why },
        "cluster cordoned",
      );
    case "uncordoned":
      return log.info({ commit, cluster: event.clusterId, by: event.by }, "cluster uncordoned");
    default:
      return;
  }
}
