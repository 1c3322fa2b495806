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

  const open = async (): ReturnType<Store["open"]> => {
    const contents = await store.open();
    const { commitNumber, records } = contents;
    if (commitNumber > 0 || records.adoption !== undefined) return contents;
    const at = machine.wallMs();
    beginning = memoryBegins(at, "created");
    return { ...contents, records: { ...records, adoption: windowFrom(at, "created") } };
  };

  const withBeginning = (batch: CommitBatch): CommitBatch =>
    beginning === undefined || batch.number > 1
      ? batch
      : { ...batch, entries: [beginning, ...batch.entries] };

  return { ...store, open, commit: (batch) => store.commit(withBeginning(batch)) };
}
