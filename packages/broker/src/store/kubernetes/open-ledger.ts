import { randomInt } from "node:crypto";
import type { ReceivedAdvertisement } from "@resource-broker/domain";
import { type KubeClient, wait } from "@resource-broker/kube";
import type { Clock, Log } from "@resource-broker/runtime";
import { decisionOf, durableEvents } from "../changes.ts";
import type { Retention } from "../sqlite/retention.ts";
import type { CommitBatch, StoreContents, StoreFailure } from "../store.ts";
import { advertisementShelf } from "./advertisement-shelf.ts";
import { type DecisionShelf, decisionShelf } from "./decision-shelf.ts";
import { type HoldsView, holdsView } from "./holds-view.ts";
import { headWriter } from "./head-writer.ts";
import { type LedgerObjects, ledgerObjects } from "./ledger-objects.ts";
import { recordPages } from "./moves.ts";
import { guardPages } from "./page-guard.ts";
import { ledgerPages } from "./pages.ts";
import type { Patiently } from "./patience.ts";
import { readLedger, readShelf, strayPages } from "./read-ledger.ts";
import { keptIn } from "./records.ts";
import type { TakenLedger } from "./take-over.ts";

/** More would fill etcd with data that is rarely read. */
const MOST_DECISIONS = 10_000;
const MOST_AUDIT_LINES = 20_000;

export interface OpenLedgerDeps {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly patiently: Patiently;
  readonly retention: Retention;
  readonly log: Log;
  readonly onTrouble: (doing: string, error: unknown) => void;
  readonly lose: (leader: string) => StoreFailure;
}

/** A ledger that this process leads. */
export interface OpenLedger {
  readonly objects: LedgerObjects;
  readonly decisions: DecisionShelf;
  readonly saveAdvertisements: (some: readonly ReceivedAdvertisement[]) => void;
  readonly contents: StoreContents;
  /** Ends all that runs beside commits; writes what was left for later, unless another replica leads. */
  readonly end: (how: { readonly isDeposed: boolean; readonly withinMs: number }) => Promise<void>;
}

/** Reads the ledger after the takeover and starts its background work. */
export async function openLedger(taken: TakenLedger, deps: OpenLedgerDeps): Promise<OpenLedger> {
  const { client, namespace, clock, log, retention, onTrouble } = deps;
  const { head } = taken.content;
  const { epoch } = head;
  const shelf = await readShelf(client, namespace);
  const { records, sums, auditPages } = readLedger(taken.content, shelf);
  const pages = ledgerPages({ ...deps, epoch });
  const soft = (doing: string) => ({ ...deps, onTrouble: (error: unknown) => onTrouble(doing, error) });
  const advertisements = advertisementShelf(shelf, {
    ...soft("advertisements could not be saved"),
    committed: records.advertisements,
  });
  const decisions = decisionShelf(shelf, {
    ...soft("decisions could not be saved"),
    epoch,
    pages,
    keep: { ...retention.decisions, atMost: Math.min(retention.decisions.atMost, MOST_DECISIONS) },
  });
  const onCommitted = (batch: CommitBatch): void => {
    const events = durableEvents(batch);
    decisions.put(events.map(decisionOf).filter((decision) => decision !== undefined));
    holds.follow(events);
    advertisements.put(keptIn(batch));
  };
  const objects = ledgerObjects(
    { records, sums, auditPages },
    {
      head: headWriter(taken, deps),
      pages,
      clock,
      keepAudit: { ...retention.audit, atMost: Math.min(retention.audit.atMost, MOST_AUDIT_LINES) },
      onCommitted,
      onTrouble,
    },
  );
  const holds: HoldsView = holdsView({
    ...soft("status.holds could not be written"),
    epoch,
    records,
    commitNumber: () => objects.content().head.commitNumber,
  });
  const guard = guardPages(
    {
      namespace,
      pages: () => recordPages(objects.content()),
      onRemoved: (name) => {
        if (!recordPages(objects.content()).includes(name)) return;
        log.error({ configMap: name }, "a segment of the ledger was deleted; it is written again");
        objects.rescue();
      },
    },
    { client, clock, log, random: () => randomInt(2 ** 32) / 2 ** 32 },
  );
  void guard.start().catch(() => undefined); // it was stopped before its first list
  void holds.complete().catch((error: unknown) => onTrouble("status.holds could not be read", error));
  void pages
    .remove(strayPages(taken.content, shelf))
    .catch((error: unknown) => onTrouble("orphan segments could not be removed", error));

  return {
    objects,
    decisions,
    saveAdvertisements: (some) => {
      const commit = objects.content().head.commitNumber;
      advertisements.put(some.map((received) => ({ ...received, commit })));
    },
    contents: {
      ledgerId: head.ledgerId,
      commitNumber: head.commitNumber,
      records: {
        reservations: [...records.reservations.values()],
        closedKeys: [...records.closedKeys.values()],
        cordons: [...records.cordons],
        adoption: records.adoption,
        advertisements: advertisements.all(),
        time: head.time,
      },
    },
    end: async ({ isDeposed, withinMs }) => {
      holds.stop();
      await guard.stop();
      if (isDeposed) {
        advertisements.stop();
        decisions.stop();
        return;
      }
      const ended = new AbortController();
      const all = Promise.allSettled([advertisements.finish(), decisions.finish(), objects.end()]);
      await Promise.race([all, wait(withinMs, { clock, signal: ended.signal })]);
      ended.abort();
    },
  };
}
