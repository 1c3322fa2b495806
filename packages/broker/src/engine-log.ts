import type { Log } from "@resource-broker/base";
import { headline, type LedgerEvent, type MemberEvent } from "@resource-broker/domain";
import type { Committed } from "./engine/engine.ts";
import type { EngineObserver } from "./engine/engine-observer.ts";
import type { BrokerMetrics } from "./metrics/metrics.ts";

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
    case "member-invited":
    case "member-enrolled":
    case "member-accepted":
    case "member-bound":
    case "member-evicted":
      return logMember(event, commit, log);
    default:
      return;
  }
}

function logMember(event: MemberEvent, commit: number, log: Log): void {
  const { clusterId: cluster, invitation } = event.member;
  const fields = { commit, cluster, token: invitation?.tokenId };
  if (event.kind === "member-evicted")
    return log.warn({ ...fields, by: event.by, why: event.why }, MEMBER_MESSAGES[event.kind]);
  log.info(fields, MEMBER_MESSAGES[event.kind]);
}

const MEMBER_MESSAGES = {
  "member-invited": "cluster invited",
  "member-enrolled": "cluster used its invitation",
  "member-accepted": "identity key of cluster accepted",
  "member-bound": "identity key of cluster bound at its first call",
  "member-evicted": "cluster evicted",
} as const satisfies Record<MemberEvent["kind"], string>;

/** Forwards engine events to metrics and the log. */
export function engineObserver(metrics: BrokerMetrics, log: Log): EngineObserver {
  return {
    decided: metrics.decided,
    planned: metrics.planned,
    committed: metrics.committed,
    granted: metrics.granted,
    refusalNotRecorded: (decision, isFirst) => {
      const { requester } = decision;
      if (isFirst)
        log.warn({ requester }, "too many refusals in an hour: further ones are answered but not recorded");
    },
    commitFailed: (kind, error) => {
      metrics.commitFailed(kind, error);
      log.error({ kind, error: error.message }, "a commit failed");
    },
    commandFailed: (kind, error) => {
      log.error(
        { command: kind, error: error.message, stack: error.stack },
        "deciding failed: this is a bug",
      );
    },
    listenerFailed: (error) => {
      log.error({ error: error.message, stack: error.stack }, "a commit listener failed: this is a bug");
    },
    advertisementsNotSaved: (error) => {
      log.warn({ error: error.message }, "advertisements were not saved; the broker tries again");
    },
  };
}
