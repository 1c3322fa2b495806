import type { ClusterId, LedgerView, ReservationId } from "@resource-broker/domain";
import type { UiDecisionRow } from "@resource-broker/contract";
import type { Committed } from "../../../engine/engine.ts";
import { changesIn } from "../../http/stream/changes.ts";
import { decisionsIn } from "./decision-memory.ts";

/** What changed, by name. Rows are rendered later, in their current state. */
export interface Changed {
  readonly clusters: ReadonlySet<ClusterId>;
  readonly reservations: ReadonlySet<ReservationId>;
  readonly decisions: readonly UiDecisionRow[];
}

export function changedBy(commit: Committed, ledger: LedgerView): Changed {
  const clusters = new Set<ClusterId>();
  const reservations = new Set<ReservationId>();
  for (const { id, requester, provider } of changesIn(commit, ledger)) {
    reservations.add(id);
    clusters.add(requester).add(provider);
  }
  for (const event of commit.events) {
    if (event.kind === "cordoned" || event.kind === "uncordoned") clusters.add(event.clusterId);
  }
  return { clusters, reservations, decisions: decisionsIn(commit) };
}

/** Changes that are gathered: each name once, however often it changed. */
export class PendingChanges implements Changed {
  readonly clusters = new Set<ClusterId>();
  readonly reservations = new Set<ReservationId>();
  readonly decisions: UiDecisionRow[] = [];

  add({ clusters, reservations, decisions }: Changed): void {
    for (const id of clusters) this.clusters.add(id);
    for (const id of reservations) this.reservations.add(id);
    this.decisions.push(...decisions);
  }

  get size(): number {
    return this.clusters.size + this.reservations.size + this.decisions.length;
  }
}
