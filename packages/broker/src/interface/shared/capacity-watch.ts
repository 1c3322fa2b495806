import { exceeds, NO_RESOURCES, type ResourceVector } from "@resource-broker/base";
import type {
  AccountView,
  ClusterId,
  Instant,
  Reservation,
  ReservationId,
  Waiting,
} from "@resource-broker/domain";
import type { Committed, Engine } from "../../engine/engine.ts";

interface ClusterCapacity {
  /** Zero while the cluster is cordoned, evicted or stale. */
  readonly lendable: ResourceVector;
  readonly overcommitted: ResourceVector;
}

export interface CapacityChange {
  /** The available capacity of some cluster has grown. */
  readonly isFreed: boolean;
  /** Clusters that now promise more than they have. */
  readonly atRisk: ReadonlySet<ClusterId>;
}

const NO_CAPACITY: ClusterCapacity = { lendable: NO_RESOURCES, overcommitted: NO_RESOURCES };
const NO_CHANGE: CapacityChange = { isFreed: false, atRisk: new Set() };

/** Detects clusters whose available capacity grew or whose reservations exceed their capacity. */
export class CapacityWatch {
  readonly #engine: Pick<Engine, "ledger" | "now" | "policy">;
  readonly #known = new Map<ClusterId, ClusterCapacity>();
  #isFreed = false;
  #atRisk = new Set<ClusterId>();

  /** What is there already is no news. */
  constructor(engine: Pick<Engine, "ledger" | "now" | "policy">) {
    this.#engine = engine;
    this.take();
  }

  /** Call it at every change, so that a decrease and an increase do not cancel out. */
  observe(clusterId: ClusterId): void {
    const account = this.#engine.ledger.accounts.get(clusterId);
    if (account !== undefined) this.#compare(account, this.#staleBefore());
  }

  /** Returns the changes since the last call. Checks every cluster, because no event reports a stale cluster. */
  take(): CapacityChange {
    const staleBefore = this.#staleBefore();
    for (const account of this.#engine.ledger.accounts.values()) this.#compare(account, staleBefore);
    if (!this.#isFreed && this.#atRisk.size === 0) return NO_CHANGE;
    const change = { isFreed: this.#isFreed, atRisk: this.#atRisk };
    this.#isFreed = false;
    this.#atRisk = new Set();
    return change;
  }

  #compare(account: AccountView, silentSince: Instant): void {
    const { clusterId, overcommitted } = account;
    const lendable = lendableOf(account, silentSince);
    const before = this.#known.get(clusterId) ?? NO_CAPACITY;
    // Runs every second for up to ten thousand clusters: compare references first.
    if (before.lendable === lendable && before.overcommitted === overcommitted) return;
    this.#known.set(clusterId, { lendable, overcommitted });
    if (exceeds(lendable, before.lendable)) this.#isFreed = true;
    if (exceeds(overcommitted, before.overcommitted)) this.#atRisk.add(clusterId);
  }

  #staleBefore(): Instant {
    return this.#engine.now() - this.#engine.policy.stalenessMs;
  }
}

function lendableOf(account: AccountView, staleBefore: Instant): ResourceVector {
  const { available, cordon, evictedAt, receivedAt } = account;
  const isOpen = cordon === undefined && evictedAt === undefined;
  return isOpen && receivedAt >= staleBefore ? available : NO_RESOURCES;
}

/** The reservations that a commit made or changed, each once and as it stands now. */
export function changedReservations({ events }: Committed, ledger: Engine["ledger"]): Reservation[] {
  const changed = new Set<ReservationId>();
  for (const event of events) {
    switch (event.kind) {
      case "granted":
      case "adopted":
        changed.add(event.reservation.id);
        break;
      case "activated":
      case "renewed":
      case "acknowledged":
      case "preempting":
      case "reprieved":
      case "ended":
        changed.add(event.id);
        break;
      default:
      // Nothing that a party would have to act on.
    }
  }
  return Array.from(changed).flatMap((id) => ledger.reservations.get(id) ?? []);
}

/** The waiting requests that a commit changed without a grant: they left the queue, or capacity is kept for them or no more. */
export function changedWaiting({ events }: Committed, { waiting }: Engine["ledger"]): Waiting[] {
  return events.flatMap((event) => {
    const isChange =
      event.kind === "unqueued" || event.kind === "nominated" || event.kind === "nomination-lapsed";
    return (isChange ? waiting.byId.get(event.id) : undefined) ?? [];
  });
}
