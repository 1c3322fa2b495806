import { type Clock, formatTime, type Log } from "@resource-broker/base";
import type { HistoryWindow, CapacityHistoryDTO, DemandHistoryDTO } from "@resource-broker/contract";
import {
  type ClusterId,
  type Decision,
  type Instant,
  UNMET_REASONS,
  unmetReason,
} from "@resource-broker/domain";
import type { Committed, Engine } from "../../../engine/engine.ts";
import { CapacityHistory } from "./capacity-history.ts";
import { type Part, readHistoryFile, writeHistoryFile } from "./history-file.ts";
import { newestIn, Series, startOf, WINDOWS } from "./series.ts";

const GRANTED = 0;
/** First what was granted, then what was refused, by reason. */
const WIDTH = 1 + UNMET_REASONS.length;

const SAVE_MS = 60_000;
/** A large fleet is written less often: its history must not wear out a disk. */
const SAVED_BYTES_PER_MS = 64;
/** If the clock was set back by more than this, the stored history is discarded; otherwise a gap remains. */
const MAX_WAIT_MS = 3_600_000;
/** No cluster has an ID like these. */
const LEDGER = "*ledger";
const FLEET = "*fleet";
const DEMAND = "*demand";

/** Capacity and demand over the last hour, day and week. */
export interface History {
  /** Finds what an earlier process wrote, and begins to record. */
  readonly start: () => Promise<void>;
  readonly committed: (commit: Committed) => void;
  /** A request that was refused; not called for retries. */
  readonly refused: (decision: Decision) => void;
  /** Without a cluster, of the fleet. */
  readonly capacity: (window: HistoryWindow, clusterId?: ClusterId) => CapacityHistoryDTO;
  readonly demand: (window: HistoryWindow) => DemandHistoryDTO;
  /** Writes what is there. */
  readonly stop: () => Promise<void>;
}

export interface HistoryDeps {
  readonly engine: Pick<Engine, "ledger" | "ledgerId" | "now" | "policy">;
  readonly clock: Pick<Clock, "after" | "monotonicMs">;
  readonly log: Log;
  /** Absent: in memory only. */
  readonly file?: string;
}

export function createHistory({ engine, clock, log, file }: HistoryDeps): History {
  const capacity = new CapacityHistory();
  /** Granted and refused requests, refusals by reason. */
  const demand = new Series(WIDTH);
  let cancelSample = (): unknown => undefined;
  let cancelSave = (): unknown => undefined;
  let saving = Promise.resolve();
  let isRecording = false;

  const sample = (): void => {
    const now = engine.now();
    capacity.sample(engine.ledger, { now, policy: engine.policy });
    // Distinguishes 'no requests' from 'not recorded'.
    demand.touch(now);
    const { stepMs } = WINDOWS.hour;
    cancelSample = clock.after(stepMs - (now % stepMs), sample);
  };

  function* parts(): Generator<() => Part> {
    const partOf = (name: string, series: Series) => (): Part => ({ name, bytes: series.toBytes() });
    yield () => ({ name: LEDGER, bytes: Buffer.from(engine.ledgerId) });
    yield partOf(FLEET, capacity.fleet);
    yield partOf(DEMAND, demand);
    for (const [clusterId, series] of capacity.clusters) yield partOf(clusterId, series);
  }

  const save = async (): Promise<void> => {
    if (file === undefined) return;
    try {
      await writeHistoryFile(file, parts());
    } catch (error) {
      log.warn(
        { file, error: messageOf(error) },
        "the dashboard's history was not written; the broker tries again",
      );
    }
  };

  const saveLater = (): void => {
    cancelSave = clock.after(saveEveryMs(capacity), () => {
      // The next one only after this: two would write into one file.
      saving = save().then(() => {
        if (isRecording) saveLater();
      });
    });
  };

  const load = async (): Promise<void> => {
    if (file === undefined) return;
    try {
      const parts = (await readHistoryFile(file)) ?? [];
      if (parts.length > 0) checkOrigin(parts, engine);
      for (const { name, bytes } of parts) {
        const series = seriesOf(name);
        if (series?.byteLength === bytes.length) series.fromBytes(bytes);
      }
    } catch (error) {
      log.warn(
        { file, error: messageOf(error) },
        "the dashboard's history cannot be read; a new one is started",
      );
    }
  };

  const seriesOf = (name: string): Series | undefined => {
    if (name === LEDGER) return undefined;
    if (name === FLEET) return capacity.fleet;
    return name === DEMAND ? demand : capacity.series(name, engine.now());
  };

  return {
    start: async () => {
      await load();
      isRecording = true;
      sample();
      if (file !== undefined) saveLater();
    },
    committed: ({ events }) => {
      for (const event of events) if (event.kind === "granted") demand.count(event.at, GRANTED);
    },
    refused: (decision) => demand.count(decision.at, columnOf(decision)),
    capacity: (window, clusterId) => capacity.read(window, engine.now(), clusterId),
    demand: (window) => demandIn(demand, window, engine.now()),
    stop: async () => {
      const hasRecorded = isRecording;
      isRecording = false;
      cancelSample();
      cancelSave();
      await saving;
      if (hasRecorded) await save();
    },
  };
}

function demandIn(series: Series, window: HistoryWindow, now: Instant): DemandHistoryDTO {
  const slots = series.read(window, now);
  const column = (index: number): number[] => slots.map((values) => values?.[index] ?? 0);
  const refused = UNMET_REASONS.map((reason, index) => ({ reason, counts: column(1 + index) }));
  return {
    window,
    from: formatTime(startOf(window, now)),
    stepMs: WINDOWS[window].stepMs,
    granted: column(GRANTED),
    refused: refused.filter(({ counts }) => counts.some((count) => count > 0)),
  };
}

function saveEveryMs({ fleet, clusters }: CapacityHistory): number {
  return Math.max(SAVE_MS, (fleet.byteLength * (1 + clusters.size)) / SAVED_BYTES_PER_MS);
}

/** Throws if the history belongs to another ledger or lies in the future. */
function checkOrigin(parts: readonly Part[], { ledgerId, now }: Pick<Engine, "ledgerId" | "now">): void {
  const [ledger, fleet] = parts;
  if (ledger?.name !== LEDGER || ledger.bytes.toString() !== ledgerId)
    throw new Error("it is of another ledger");
  if (fleet?.name === FLEET && newestIn(fleet.bytes) > now() + MAX_WAIT_MS)
    throw new Error("it is from the future: the clock was set back");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function columnOf(decision: Decision): number {
  return 1 + Math.max(0, UNMET_REASONS.indexOf(unmetReason(decision)));
}
