import { formatTime, type HistoryWindow, type UiAmounts, type UiHistory } from "@resource-broker/contract";
import type { ClusterId, Instant, LedgerView, ResourceVector } from "@resource-broker/domain";
import { type AdvertisedAccount, hasAdvertised, isStale, type Moment } from "../views/advertised-account.ts";
import { Series } from "./series.ts";
import { lengthMs, WINDOWS } from "./windows.ts";

/** available, reserved and allocatable; of each CPU, memory and GPUs. */
const WIDTH = 9;
/** About 29 kB each: 30 MB at most. */
const MAX_CLUSTERS = 1000;

const NOTHING = new Series(WIDTH);

/** Capacity of the fleet and of each cluster over time. */
export class CapacityHistory {
  readonly fleet = new Series(WIDTH);
  readonly #clusters = new Map<ClusterId, Series>();

  get clusters(): ReadonlyMap<ClusterId, Series> {
    return this.#clusters;
  }

  /** Stale clusters are skipped, which leaves a gap in their series. */
  sample(ledger: LedgerView, moment: Moment): void {
    const total = new Float64Array(WIDTH);
    for (const account of ledger.accounts.values()) {
      if (!hasAdvertised(account) || isStale(account, moment)) continue;
      const figures = figuresOf(account);
      for (const [index, figure] of figures.entries()) total[index] = (total[index] ?? 0) + figure;
      this.series(account.clusterId, moment.now)?.sample(moment.now, figures);
    }
    this.fleet.sample(moment.now, total);
  }

  /** Of the fleet, or of one cluster, of which perhaps nothing was recorded yet. */
  read(window: HistoryWindow, now: Instant, clusterId?: ClusterId): UiHistory {
    const series = clusterId === undefined ? this.fleet : this.#clusters.get(clusterId);
    const { stepMs, length } = WINDOWS[window];
    const from = (Math.floor(now / stepMs) - length + 1) * stepMs;
    const points = (series ?? NOTHING)
      .read(window, now)
      .map((figures) => (figures === undefined ? null : pointOf(figures)));
    return { window, from: formatTime(from), stepMs, points };
  }

  /** The cluster's series, made where there is room; undefined: there is none. */
  series(clusterId: ClusterId, now: Instant): Series | undefined {
    const known = this.#clusters.get(clusterId);
    if (known !== undefined) return known;
    if (this.#clusters.size >= MAX_CLUSTERS) this.#forget(now);
    if (this.#clusters.size >= MAX_CLUSTERS) return undefined;
    const series = new Series(WIDTH);
    this.#clusters.set(clusterId, series);
    return series;
  }

  /** Drops clusters without samples in the longest window. */
  #forget(now: Instant): void {
    for (const [clusterId, { newestAt }] of this.#clusters)
      if (newestAt < now - lengthMs(WINDOWS.week)) this.#clusters.delete(clusterId);
  }
}

function figuresOf({ available, reserved, advertisement }: AdvertisedAccount): number[] {
  return [available, reserved, advertisement.allocatable].flatMap(
    ({ cpuMillis, memoryBytes, gpus }: ResourceVector) => [cpuMillis / 1000, memoryBytes, gpus],
  );
}

function pointOf(figures: Float32Array): NonNullable<UiHistory["points"][number]> {
  return {
    available: amountsAt(figures, 0),
    reserved: amountsAt(figures, 3),
    allocatable: amountsAt(figures, 6),
  };
}

/** Rounded, because means have more digits than the measurements. */
function amountsAt(figures: Float32Array, start: number): UiAmounts {
  return {
    cpu: rounded(figures[start] ?? 0),
    memory: Math.round(figures[start + 1] ?? 0),
    gpu: rounded(figures[start + 2] ?? 0),
  };
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
