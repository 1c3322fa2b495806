import type { UiDecisionRow } from "@resource-broker/contract/dashboard";
import type { ClusterId, Instant, LedgerView, ReservationId } from "@resource-broker/domain";
import type { Committed } from "../../../engine/engine.ts";
import { changedReservations } from "../../shared/changed-reservations.ts";
import { decisionsIn } from "./recent-decisions.ts";

/** What changed, by name. Rows are rendered later, in their current state. */
export interface Changed {
  readonly clusters: ReadonlySet<ClusterId>;
  readonly reservations: ReadonlySet<ReservationId>;
  readonly decisions: readonly UiDecisionRow[];
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

interface Entry {
  readonly commit: number;
  readonly at: Instant;
  readonly changed: Changed;
  readonly size: number;
}

/** What a page missed, and since when. */
interface Missed {
  readonly changed: PendingChanges;
  /** When the last commit it knows was made, or this log began. */
  readonly since: Instant;
}

/** The last changes, so that a page can continue after a short disconnection. */
export class ChangeLog {
  readonly #capacity: number;
  readonly #entries: Entry[] = [];
  #size = 0;
  /** Everything after this commit is here. */
  #completeAfter: { readonly commit: number; readonly at: Instant };

  constructor(capacity: number, start: { readonly commit: number; readonly at: Instant }) {
    this.#capacity = capacity;
    this.#completeAfter = start;
  }

  add(commit: number, at: Instant, changed: Changed): void {
    const size = 1 + changed.clusters.size + changed.reservations.size + changed.decisions.length;
    this.#entries.push({ commit, at, changed, size });
    this.#size += size;
    let dropped = 0;
    while (this.#size > this.#capacity && dropped < this.#entries.length) {
      const oldest = this.#entries[dropped++];
      if (oldest === undefined) break;
      this.#size -= oldest.size;
      this.#completeAfter = { commit: oldest.commit, at: oldest.at };
    }
    if (dropped > 0) this.#entries.splice(0, dropped);
  }

  /** What changed after a commit, up to another one; undefined when that is no longer known. */
  between(after: number, upTo: number): Missed | undefined {
    if (after < this.#completeAfter.commit) return undefined;
    const changed = new PendingChanges();
    let since = this.#completeAfter.at;
    for (const entry of this.#entries) {
      if (entry.commit > upTo) break;
      if (entry.commit > after) changed.add(entry.changed);
      else since = entry.at;
    }
    return { changed, since };
  }
}
