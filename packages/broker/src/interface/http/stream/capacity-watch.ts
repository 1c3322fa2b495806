import { amountOf, type AccountView, type ClusterId, type ResourceVector } from "@resource-broker/domain";

interface Standing {
  readonly available: ResourceVector;
  readonly overcommitted: ResourceVector;
}

export interface CapacityNews {
  /** Some cluster can lend more than it could. */
  readonly isFreed: boolean;
  /** Clusters that now promise more than they have. */
  readonly atRisk: ReadonlySet<ClusterId>;
}

const NO_NEWS: CapacityNews = { isFreed: false, atRisk: new Set() };

/** Notices where capacity grew or fell short. Looks at every change, so that a fall and a rise never cancel out. */
export class CapacityWatch {
  readonly #known = new Map<ClusterId, Standing>();
  #isFreed = false;
  #atRisk = new Set<ClusterId>();

  observe(account: AccountView | undefined): void {
    if (account?.advertisement === undefined) return;
    const { clusterId, available, overcommitted } = account;
    const before = this.#known.get(clusterId);
    this.#known.set(clusterId, { available, overcommitted });
    if (before === undefined || hasMore(available, before.available)) this.#isFreed = true;
    if (before !== undefined && hasMore(overcommitted, before.overcommitted)) this.#atRisk.add(clusterId);
  }

  /** What happened since it was last asked. */
  take(): CapacityNews {
    if (!this.#isFreed && this.#atRisk.size === 0) return NO_NEWS;
    const news = { isFreed: this.#isFreed, atRisk: this.#atRisk };
    this.#isFreed = false;
    this.#atRisk = new Set();
    return news;
  }
}

function hasMore(now: ResourceVector, before: ResourceVector): boolean {
  if (now.cpuMillis > before.cpuMillis || now.memoryBytes > before.memoryBytes) return true;
  if (now.gpus > before.gpus || now.storageBytes > before.storageBytes) return true;
  return Object.keys(now.extended).some((name) => amountOf(now, name) > amountOf(before, name));
}
