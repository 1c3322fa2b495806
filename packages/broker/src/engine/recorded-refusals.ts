import { type ClusterId, type Instant, isSoft, type LedgerEvent } from "@resource-broker/domain";
import type { EngineObserver } from "./engine-observer.ts";

/** Of one requester in an hour. A few requests that wait for room and are tried again stay below it. */
export const MAX_RECORDED_REFUSALS_PER_HOUR = 200;
const HOUR_MS = 3_600_000;

/**
 * Limits how many refusals of one requester are recorded per hour. A recorded refusal uses a line of the audit log and a
 * place in the decision history. Refusals beyond the limit are answered and counted, but not recorded.
 */
export class RecordedRefusals {
  readonly #onUnrecorded: EngineObserver["refusalNotRecorded"];
  readonly #counts = new Map<ClusterId, number>();
  #hour = 0;

  constructor(onUnrecorded: EngineObserver["refusalNotRecorded"]) {
    this.#onUnrecorded = onUnrecorded;
  }

  /** What must be durable of a command's events: neither soft ones nor refusals beyond their requester's share. */
  durableOf(events: readonly LedgerEvent[], now: Instant): LedgerEvent[] {
    return events.filter((event) => !isSoft(event) && this.#admits(event, now));
  }

  #admits(event: LedgerEvent, now: Instant): boolean {
    if (event.kind !== "refused") return true;
    this.#beginHour(Math.floor(now / HOUR_MS));
    const { decision } = event;
    const count = (this.#counts.get(decision.requester) ?? 0) + 1;
    this.#counts.set(decision.requester, count);
    if (count <= MAX_RECORDED_REFUSALS_PER_HOUR) return true;
    this.#onUnrecorded(decision, count === MAX_RECORDED_REFUSALS_PER_HOUR + 1);
    return false;
  }

  #beginHour(hour: number): void {
    if (hour === this.#hour) return;
    this.#hour = hour;
    this.#counts.clear();
  }
}
