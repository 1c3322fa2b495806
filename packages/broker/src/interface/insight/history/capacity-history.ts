import { formatTime, type ResourceVector } from "@resource-broker/base";
import type { HistoryWindow, AmountsDTO, CapacityHistoryDTO } from "@resource-broker/contract";
import type { ClusterId, Instant, LedgerView } from "@resource-broker/domain";
import {
  type AdvertisedAccount,
  hasAdvertised,
  isStale,
  type Moment,
} from "../../shared/advertised-account.ts";
import { lengthMs, Series, startOf, WINDOWS } from "./series.ts";

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
      const values = valuesOf(account);
      for (const [index, value] of values.entries()) total[index] = (total[index] ?? 0) + value;
      this.series(account.clusterId, moment.now)?.sample(moment.now, values);
    }
    this.fleet.sample(moment.now, total);
  }

  /** Of the fleet, or of one cluster, of which perhaps nothing was recorded yet. */
  read(window: HistoryWindow, now: Instant, clusterId?: ClusterId): CapacityHistoryDTO {
    const series = clusterId === undefined ? this.fleet : this.#clusters.get(clusterId);
    const { stepMs } = WINDOWS[window];
    const points = (series ?? NOTHING)
      .read(window, now)
      .map((values) => (values === undefined ? {} : pointOf(values)));
    return { window, from: formatTime(startOf(window, now)), stepMs, points };
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

function valuesOf({ available, reserved, advertisement }: AdvertisedAccount): number[] {
  return [available, reserved, advertisement.allocatable].flatMap(
    ({ cpuMillis, memoryBytes, gpus }: ResourceVector) => [cpuMillis / 1000, memoryBytes, gpus],
  );
}

function pointOf(values: Float32Array): CapacityHistoryDTO["points"][number] {
  return {
    available: amountsAt(values, 0),
    reserved: amountsAt(values, 3),
    allocatable: amountsAt(values, 6),
  };
}

/** Rounded, because means have more digits than the measurements. */
function amountsAt(values: Float32Array, start: number): AmountsDTO {
  return {
    cpu: rounded(values[start] ?? 0),
    memory: Math.round(values[start + 1] ?? 0),
    gpu: rounded(values[start + 2] ?? 0),
  };
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
