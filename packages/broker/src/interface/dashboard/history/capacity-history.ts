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

/** What the fleet and each of its clusters had to lend, over time. */
export class CapacityHistory {
  readonly fleet = new Series(WIDTH);
  readonly #clusters = new Map<ClusterId, Series>();

  get clusters(): ReadonlyMap<ClusterId, Series> {
    return this.#clusters;
  }

  /** Stale clusters lend nothing: what they had is not theirs to offer now, and leaves a gap. */
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

  /** Those that were not heard within the longest window have nothing left to show. */
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

/** Means have digits that nobody measured. */
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
