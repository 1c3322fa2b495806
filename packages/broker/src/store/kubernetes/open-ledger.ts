import { randomInt } from "node:crypto";
import type { Clock, Log } from "@resource-broker/base";
import type { ReceivedAdvertisement } from "@resource-broker/domain";
import { type KubeClient, wait } from "@resource-broker/kube";
import { decisionOf, durableEvents } from "../common/changes.ts";
import type { Retention } from "../common/retention.ts";
import type { CommitBatch, StoreContents, StoreFailure } from "../store.ts";
import { advertisementShards } from "./advertisement-shards.ts";
import { recordSegments } from "./compaction.ts";
import { type DecisionSegments, decisionSegments } from "./decision-segments.ts";
import { type HoldsStatusWriter, holdsStatusWriter } from "./holds-status.ts";
import { type LedgerObjects, ledgerObjects } from "./ledger-objects.ts";
import { manifestWriter } from "./manifest-writer.ts";
import { listLedgerObjects, orphanSegments, readLedger } from "./read-ledger.ts";
import { storedAdvertisements } from "./records.ts";
import { ledgerSegments, watchSegments } from "./segments.ts";
import type { WithTimeout } from "./soft-object.ts";
import type { TakenLedger } from "./take-over.ts";

/** More would fill etcd with data that is rarely read. */
const MAX_DECISIONS = 10_000;
const MAX_AUDIT_LINES = 20_000;

export interface OpenLedgerDeps {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly withTimeout: WithTimeout;
  readonly retention: Retention;
  readonly log: Log;
  readonly onError: (doing: string, error: unknown) => void;
  readonly markLost: (leader: string) => StoreFailure;
}

/** A ledger that this process leads. */
export interface OpenLedger {
  readonly objects: LedgerObjects;
  readonly decisions: DecisionSegments;
  readonly saveAdvertisements: (some: readonly ReceivedAdvertisement[]) => void;
  readonly contents: StoreContents;
  /** Ends all that runs beside commits; writes what was left for later, unless another replica leads. */
  readonly stop: (how: { readonly isDeposed: boolean; readonly withinMs: number }) => Promise<void>;
}

/** Reads the ledger after the takeover and starts its background work. */
export async function openLedger(taken: TakenLedger, deps: OpenLedgerDeps): Promise<OpenLedger> {
  const { client, namespace, clock, log, retention, onError } = deps;
  const { manifest } = taken.content;
  const { epoch } = manifest;
  const configMaps = await listLedgerObjects(client, namespace);
  const { records, sums, auditSegments } = readLedger(taken.content, configMaps);
  const segments = ledgerSegments({ ...deps, epoch });
  const softDeps = (doing: string) => ({ ...deps, onError: (error: unknown) => onError(doing, error) });
  const advertisements = advertisementShards(configMaps, {
    ...softDeps("advertisements could not be saved"),
    committed: records.advertisements,
  });
  const decisions = decisionSegments(configMaps, {
    ...softDeps("decisions could not be saved"),
    epoch,
    segments,
    keep: { ...retention.decisions, atMost: Math.min(retention.decisions.atMost, MAX_DECISIONS) },
  });
  const onCommitted = (batch: CommitBatch): void => {
    const events = durableEvents(batch);
    decisions.put(events.map(decisionOf).filter((decision) => decision !== undefined));
    holdsStatus.onEvents(events);
    advertisements.put(storedAdvertisements(batch));
  };
  const objects = ledgerObjects(
    { records, sums, auditSegments },
    {
      writer: manifestWriter(taken, deps),
      segments,
      clock,
      auditRetention: { ...retention.audit, atMost: Math.min(retention.audit.atMost, MAX_AUDIT_LINES) },
      onCommitted,
      onError,
    },
  );
  const holdsStatus: HoldsStatusWriter = holdsStatusWriter({
    ...softDeps("status.holds could not be written"),
    epoch,
    records,
    commitNumber: () => objects.content().manifest.commitNumber,
  });
  const segmentWatch = watchSegments(
    {
      namespace,
      segments: () => recordSegments(objects.content()),
      onRemoved: (name) => {
        if (!recordSegments(objects.content()).includes(name)) return;
        log.error({ configMap: name }, "a segment of the ledger was deleted; it is written again");
        objects.rewriteRecords();
      },
    },
    { client, clock, log, random: () => randomInt(2 ** 32) / 2 ** 32 },
  );
  void segmentWatch.start().catch(() => undefined); // it was stopped before its first list
  void holdsStatus.resync().catch((error: unknown) => onError("status.holds could not be read", error));
  void segments
    .remove(orphanSegments(taken.content, configMaps))
    .catch((error: unknown) => onError("orphan segments could not be removed", error));

  return {
    objects,
    decisions,
    saveAdvertisements: (some) => {
      const commit = objects.content().manifest.commitNumber;
      advertisements.put(some.map((received) => ({ ...received, commit })));
    },
    contents: {
      ledgerId: manifest.ledgerId,
      commitNumber: manifest.commitNumber,
      records: {
        reservations: [...records.reservations.values()],
        closedKeys: [...records.closedKeys.values()],
        cordons: [...records.cordons],
        adoption: records.adoption,
        advertisements: advertisements.all(),
        time: manifest.time,
      },
    },
    stop: async ({ isDeposed, withinMs }) => {
      holdsStatus.stop();
      await segmentWatch.stop();
      if (isDeposed) {
        advertisements.stop();
        decisions.stop();
        return;
      }
      const ended = new AbortController();
      const all = Promise.allSettled([advertisements.drain(), decisions.drain(), objects.stop()]);
      await Promise.race([all, wait(withinMs, { clock, signal: ended.signal })]);
      ended.abort();
    },
  };
}
