import type { Log } from "@resource-broker/runtime";
import type { EngineObserver } from "./engine/engine-observer.ts";
import type { BrokerMetrics } from "./metrics/metrics.ts";

/** Forwards engine events to metrics and the log. */
export function engineObserver(metrics: BrokerMetrics, log: Log): EngineObserver {
  return {
    decided: metrics.decided,
    committed: metrics.committed,
    granted: metrics.granted,
    refusalNotRecorded: (decision, isFirst) => {
      metrics.refusalNotRecorded(decision);
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
