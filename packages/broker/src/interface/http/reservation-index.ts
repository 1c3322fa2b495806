import type { ClusterId, ReservationId } from "@resource-broker/domain";
import type { Committed, Engine } from "../../engine/engine.ts";

/**
 * Which reservations a cluster is party to, ended ones included: agents list theirs every minute, and a walk through
 * everybody's would grow with history.
 */
export class ReservationIndex {
  readonly #engine: Pick<Engine, "ledger">;
  readonly #byParty = new Map<ClusterId, Set<ReservationId>>();
  #forgotten = 0;

  constructor(engine: Pick<Engine, "ledger">) {
    this.#engine = engine;
    for (const { id, requester, provider } of engine.ledger.reservations.values()) {
      this.#add(requester, id);
      this.#add(provider, id);
    }
  }

  /** Ids that the ledger has forgotten may still be among them. */
  idsOf(clusterId: ClusterId): Iterable<ReservationId> {
    return this.#byParty.get(clusterId) ?? [];
  }

  update({ events }: Committed): void {
    for (const event of events) {
      if (event.kind === "granted" || event.kind === "adopted") {
        const { id, requester, provider } = event.reservation;
        this.#add(requester, id);
        this.#add(provider, id);
      } else if (event.kind === "forgotten") {
        this.#forgotten++;
      }
    }
    this.#tidy();
  }

  #add(clusterId: ClusterId, id: ReservationId): void {
    const ids = this.#byParty.get(clusterId);
    if (ids === undefined) this.#byParty.set(clusterId, new Set([id]));
    else ids.add(id);
  }

  /** A forgotten id has no party any more, so all ids are checked, but only when about half of them may be forgotten. */
  #tidy(): void {
    const { reservations } = this.#engine.ledger;
    if (this.#forgotten <= Math.max(1000, reservations.size)) return;
    this.#forgotten = 0;
    for (const [clusterId, ids] of this.#byParty) {
      for (const id of ids) if (!reservations.has(id)) ids.delete(id);
      if (ids.size === 0) this.#byParty.delete(clusterId);
    }
  }
}
