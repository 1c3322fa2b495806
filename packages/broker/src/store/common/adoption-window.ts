import type { Clock } from "@resource-broker/base";
import { initialAdoptionWindow, type LedgerEvent } from "@resource-broker/domain";
import type { CommitBatch, CommitEntry, Store } from "../store.ts";

/** Actor in the audit log for actions that no cluster requested. */
const BY_BROKER = "broker";

/** The commit entry that opens the adoption window of a new or restored ledger: older reservations may be adopted. */
export function adoptionWindowEntry(
  at: number,
  cause: Parameters<typeof initialAdoptionWindow>[1],
): CommitEntry {
  const event: LedgerEvent = { kind: "adoption-window-set", at, window: initialAdoptionWindow(at, cause) };
  return { by: BY_BROKER, action: "open-adoption", events: [event] };
}

/**
 * Wraps a store so that the first commit of a new ledger also opens the adoption window. A process that ends before that
 * commit leaves an empty ledger, and the next process starts again.
 */
export function withAdoptionWindow(store: Store, clock: Pick<Clock, "wallMs">): Store {
  let windowEntry: CommitEntry | undefined;
  /** The first batch, as received and as extended: a retry must commit the same batch. */
  let first: { readonly given: CommitBatch; readonly sent: CommitBatch } | undefined;

  const open = async (): ReturnType<Store["open"]> => {
    const contents = await store.open();
    const { commitNumber, records } = contents;
    if (commitNumber > 0 || records.adoption !== undefined) return contents;
    const at = clock.wallMs();
    windowEntry = adoptionWindowEntry(at, "created");
    return { ...contents, records: { ...records, adoption: initialAdoptionWindow(at, "created") } };
  };

  const withWindowEntry = (batch: CommitBatch): CommitBatch => {
    if (windowEntry === undefined || batch.number > 1) return batch;
    if (first?.given !== batch)
      first = { given: batch, sent: { ...batch, entries: [windowEntry, ...batch.entries] } };
    return first.sent;
  };

  return { ...store, open, commit: (batch) => store.commit(withWindowEntry(batch)) };
}
