import { type LedgerEvent, windowFrom } from "@resource-broker/domain";
import type { MachineTime } from "@resource-broker/runtime";
import type { CommitBatch, CommitEntry, Store } from "./store.ts";

/** What the audit log names for things that no cluster asked for. */
const BY_BROKER = "broker";

/** The record that a ledger's memory begins: holds from before that may be adopted for a while. */
export function memoryBegins(at: number, cause: Parameters<typeof windowFrom>[1]): CommitEntry {
  const event: LedgerEvent = { kind: "adoption-window-set", at, window: windowFrom(at, cause) };
  return { by: BY_BROKER, action: "open-adoption", events: [event] };
}

/**
 * A store whose new ledger records when its memory began, together with its first commit. A process that ends before
 * that commit leaves an empty ledger, which begins again.
 */
export function recordingMemory(store: Store, machine: Pick<MachineTime, "wallMs">): Store {
  let beginning: CommitEntry | undefined;
  /** The first batch as it was given and as it was handed on: when it is tried again, it is the same one. */
  let first: { readonly given: CommitBatch; readonly sent: CommitBatch } | undefined;

  const open = async (): ReturnType<Store["open"]> => {
    const contents = await store.open();
    const { commitNumber, records } = contents;
    if (commitNumber > 0 || records.adoption !== undefined) return contents;
    const at = machine.wallMs();
    beginning = memoryBegins(at, "created");
    return { ...contents, records: { ...records, adoption: windowFrom(at, "created") } };
  };

  const withBeginning = (batch: CommitBatch): CommitBatch => {
    if (beginning === undefined || batch.number > 1) return batch;
    if (first?.given !== batch)
      first = { given: batch, sent: { ...batch, entries: [beginning, ...batch.entries] } };
    return first.sent;
  };

  return { ...store, open, commit: (batch) => store.commit(withBeginning(batch)) };
}
