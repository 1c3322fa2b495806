import { createHash } from "node:crypto";
import {
  type ClusterId,
  type Decision,
  type DecisionId,
  type Instant,
  isSoft,
  type LedgerEvent,
  type Outcome,
  refusalsOf,
  requestFingerprint,
} from "@resource-broker/domain";
import type { CommitBatch } from "../store/store.ts";
import type { EngineObserver } from "./engine-observer.ts";

/** Of one requester in an hour. Repeated ones are recorded once and do not count. */
export const MAX_RECORDED_REFUSALS_PER_HOUR = 200;
const HOUR_MS = 3_600_000;

/**
 * Decides which refusals are recorded: a recorded refusal uses a line of the audit log and a place in the decision
 * history. Of one requester that are so many per hour. A request that is repeated and refused for the same reasons is
 * answered with the decision that was recorded in this hour. What is not recorded is counted.
 */
export class RecordedRefusals {
  readonly #onUnrecorded: EngineObserver["refusalNotRecorded"];
  readonly #counts = new Map<ClusterId, number>();
  /** Durable decisions of this hour. No requester has more than it may have recorded. */
  readonly #recorded = new Map<ClusterId, Map<string, DecisionId>>();
  #hour = 0;

  constructor(onUnrecorded: EngineObserver["refusalNotRecorded"]) {
    this.#onUnrecorded = onUnrecorded;
  }

  /** The same outcome; if it repeats a recorded refusal, with the ID of that one and nothing to record. */
  recall(outcome: Outcome): Outcome {
    const { reply } = outcome;
    if (reply.kind !== "refused") return outcome;
    const { decision } = reply;
    this.#beginHour(decision.at);
    const id = this.#recorded.get(decision.requester)?.get(digestOf(decision));
    if (id === undefined) return outcome;
    this.#onUnrecorded(decision, false);
    return { events: [], reply: { kind: "refused", decision: { ...decision, id } } };
  }

  /** What must be durable of a command's events: neither soft ones nor refusals beyond their requester's share. */
  durableOf(events: readonly LedgerEvent[], now: Instant): LedgerEvent[] {
    return events.filter((event) => !isSoft(event) && this.#admits(event, now));
  }

  /** What is recorded now can be named by later replies. */
  committed({ entries }: Pick<CommitBatch, "entries">): void {
    for (const event of entries.flatMap(({ events }) => events)) {
      if (event.kind !== "refused") continue;
      const { id, requester } = event.decision;
      const own = this.#recorded.get(requester) ?? new Map<string, DecisionId>();
      this.#recorded.set(requester, own.set(digestOf(event.decision), id));
    }
  }

  #admits(event: LedgerEvent, now: Instant): boolean {
    if (event.kind !== "refused") return true;
    this.#beginHour(now);
    const { decision } = event;
    const count = (this.#counts.get(decision.requester) ?? 0) + 1;
    this.#counts.set(decision.requester, count);
    if (count <= MAX_RECORDED_REFUSALS_PER_HOUR) return true;
    this.#onUnrecorded(decision, count === MAX_RECORDED_REFUSALS_PER_HOUR + 1);
    return false;
  }

  #beginHour(now: Instant): void {
    const hour = Math.floor(now / HOUR_MS);
    if (hour === this.#hour) return;
    this.#hour = hour;
    this.#counts.clear();
    this.#recorded.clear();
  }
}

/** Equal for the same request, refused by the same filters at the same clusters. Amounts and ages change all the time. */
function digestOf(decision: Decision): string {
  const { request, policyVersion, refusedBy } = decision;
  const reasons = refusalsOf(decision).map(({ clusterId, filter }) => `${clusterId} ${filter}`);
  const content = [requestFingerprint(request), policyVersion, JSON.stringify(refusedBy), ...reasons.sort()];
  return createHash("sha256").update(content.join("\n")).digest("base64");
}
