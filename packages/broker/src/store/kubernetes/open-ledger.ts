import { randomInt, randomUUID } from "node:crypto";
import type { Log } from "@resource-broker/base";
import type { ReceivedAdvertisement } from "@resource-broker/domain";
import { CONFIG_MAPS, type ConfigMap, wait } from "@resource-broker/kube";
import { decisionOf, durableEvents } from "../common/changes.ts";
import type { Candidate } from "../common/leader-elector.ts";
import { type CommitBatch, type Retention, type StoreContents, StoreFailure } from "../store.ts";
import { advertisementShards } from "./advertisement-shards.ts";
import { type DecisionSegments, decisionSegments } from "./decision-segments.ts";
import { type HoldsStatusWriter, holdsStatusWriter } from "./holds-status.ts";
import { type LedgerAccess, writeObject } from "./ledger-client.ts";
import {
  type Content,
  contentIn,
  manifestConfigMap,
  newManifest,
  recordSegments,
  withLeader,
} from "./ledger-manifest.ts";
import { type LedgerObjects, ledgerObjects } from "./ledger-objects.ts";
import { type ManifestWriterDeps, manifestWriter } from "./manifest-writer.ts";
import { listLedgerObjects, orphanSegments, readLedger } from "./read-ledger.ts";
import { storedAdvertisements } from "./records.ts";
import { LEDGER, LEDGER_LABEL, ledgerSegments, watchSegments } from "./segments.ts";

/** More would fill etcd with data that is rarely read. */
const MAX_DECISIONS = 10_000;
const MAX_AUDIT_LINES = 20_000;

interface OpenLedgerDeps extends ManifestWriterDeps {
  readonly candidate: Candidate;
  readonly retention: Retention;
  readonly log: Log;
  readonly onError: (doing: string, error: unknown) => void;
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

/** Takes the ledger over, reads it, and starts its background work. */
export async function openLedger(deps: OpenLedgerDeps): Promise<OpenLedger> {
  const { client, namespace, clock, log, retention, onError } = deps;
  const taken = await takeOver(deps, deps.candidate);
  const { manifest } = taken.content;
  const { epoch } = manifest;
  const configMaps = await listLedgerObjects(client, namespace);
  const { records, auditSegments } = readLedger(taken.content, configMaps);
  const segments = ledgerSegments(deps, epoch);
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
    { records, auditSegments },
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
        waiting: [...records.waiting.values()],
        closedDays: [...records.closedDays.values()],
        closedKeys: [...records.closedKeys.values()],
        cordons: [...records.cordons],
        adoption: records.adoption,
        members: [...records.members.values()],
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

/** A leader that still commits, or another candidate, may be faster a few times. */
const TRIES = 50;
const RETRY_DELAY_MS = 20;

interface TakenLedger {
  readonly object: ConfigMap;
  readonly content: Content;
}

/**
 * Makes this process the leader by writing the manifest. From then on the API server refuses writes of the previous
 * leader. The ledger is read afterwards, so it is complete.
 */
async function takeOver(access: LedgerAccess, candidate: Candidate): Promise<TakenLedger> {
  const { client, namespace, clock } = access;
  for (let left = TRIES; left > 0; left--) {
    const found = await client.find(CONFIG_MAPS, { name: LEDGER, namespace });
    const before = found === undefined ? await initialContent(access) : contentIn(found);
    const content = withLeader(before, candidate);
    const object = await writeObject(client, manifestConfigMap(found, namespace, content));
    if (object !== undefined) return { object, content };
    await wait(RETRY_DELAY_MS, { clock, signal: undefined });
  }
  throw new StoreFailure("not-committed", `somebody keeps changing ConfigMap ${namespace}/${LEDGER}`);
}

/** If segments exist without a manifest, a new ledger must not start: it would grant reserved capacity again. */
async function initialContent({ client, namespace }: LedgerAccess): Promise<Content> {
  let segments = 0;
  await client.list(CONFIG_MAPS, { namespace, labelSelector: `${LEDGER_LABEL}=page`, pageSize: 50 }, () => {
    segments++;
  });
  if (segments === 0) return { manifest: newManifest(randomUUID()), changes: [], audit: [] };
  const selector = `-l ${LEDGER_LABEL}`;
  throw new StoreFailure(
    "corrupt",
    `ConfigMap ${namespace}/${LEDGER} is missing, but ${segments} segments of its ledger exist; restore it from a backup, ` +
      `or give the ledger up: kubectl -n ${namespace} delete configmaps ${selector}`,
  );
}
