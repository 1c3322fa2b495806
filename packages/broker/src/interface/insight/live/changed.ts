import type { DecisionSummaryDTO } from "@resource-broker/contract";
import type { ClusterId, Instant, LedgerEvent, LedgerView, ReservationId } from "@resource-broker/domain";
import type { Committed } from "../../../engine/engine.ts";
import { changedReservations } from "../../shared/capacity-watch.ts";
import { decisionsIn } from "../recent-decisions.ts";
import { hasAdvertised, isStale, type Moment } from "../../shared/advertised-account.ts";

interface Seen {
  readonly receivedAt: Instant;
  readonly isStale: boolean;
}

/**
 * Finds the clusters that advertised or became stale since the last poll. Advertisements are not commits and staleness has
 * no event, so this is polled, but only while a page is open. A thousand clusters take a tenth of a millisecond.
 */
export class AdvertisementWatch {
  readonly #seen = new Map<ClusterId, Seen>();
  #hasPolled = false;

  /** The clusters that changed; the first look finds none. */
  poll(ledger: LedgerView, moment: Moment): Set<ClusterId> {
    const changed = new Set<ClusterId>();
    const isFirst = !this.#hasPolled;
    this.#hasPolled = true;
    for (const account of ledger.accounts.values()) {
      if (!hasAdvertised(account)) continue;
      const { clusterId, receivedAt } = account;
      const before = this.#seen.get(clusterId);
      const now = isStale(account, moment);
      if (before?.receivedAt === receivedAt && before.isStale === now) continue;
      this.#seen.set(clusterId, { receivedAt, isStale: now });
      changed.add(clusterId);
    }
    return isFirst ? new Set() : changed;
  }
}

/** What changed, by name. Rows are rendered later, in their current state. */
export interface Changed {
  readonly clusters: ReadonlySet<ClusterId>;
  readonly reservations: ReadonlySet<ReservationId>;
  readonly decisions: readonly DecisionSummaryDTO[];
  /** Requests have joined or left the queue, or capacity is kept for others. */
  readonly isQueueChanged: boolean;
}

export function changedBy(commit: Committed, ledger: LedgerView): Changed {
  const clusters = new Set<ClusterId>();
  const reservations = new Set<ReservationId>();
  for (const { id, requester, provider } of changedReservations(commit, ledger)) {
    reservations.add(id);
    clusters.add(requester).add(provider);
  }
  for (const event of commit.events) {
    if (event.kind === "cordoned" || event.kind === "uncordoned") clusters.add(event.clusterId);
    if ("member" in event) clusters.add(event.member.clusterId);
  }
  const isQueueChanged = commit.events.some(changesQueue);
  return { clusters, reservations, decisions: decisionsIn(commit), isQueueChanged };
}

function changesQueue(event: LedgerEvent): boolean {
  switch (event.kind) {
    case "queued":
    case "unqueued":
    case "nominated":
    case "nomination-lapsed":
      return true;
    case "granted":
      return event.decision.queue !== undefined;
    default:
      return false;
  }
}

/** Changes that are gathered: each name once, however often it changed. */
export class PendingChanges implements Changed {
  readonly clusters = new Set<ClusterId>();
  readonly reservations = new Set<ReservationId>();
  readonly decisions: DecisionSummaryDTO[] = [];
  isQueueChanged = false;

  add({ clusters, reservations, decisions, isQueueChanged }: Changed): void {
    this.isQueueChanged ||= isQueueChanged;
    for (const id of clusters) this.clusters.add(id);
    for (const id of reservations) this.reservations.add(id);
    this.decisions.push(...decisions);
  }
}

export function sizeOf({ clusters, reservations, decisions, isQueueChanged }: Changed): number {
  return clusters.size + reservations.size + decisions.length + Number(isQueueChanged);
}
