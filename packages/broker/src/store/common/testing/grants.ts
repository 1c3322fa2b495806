import { clusterOf, LedgerDriver, requestFor, reserve } from "@resource-broker/testkit";
import type { CommitBatch, Store } from "../../store.ts";

/** A story in which rome borrows from paris, one small reservation in each batch. */
export class Grants {
  readonly story = new LedgerDriver();
  #count = 0;

  constructor() {
    this.story.batch(
      { kind: "advertise", advertisement: clusterOf("paris", 1_000_000) },
      { kind: "advertise", advertisement: clusterOf("berlin", 100) },
    );
  }

  next(): CommitBatch {
    this.#count++;
    this.story.now += 1000;
    const batch = this.story.batch(reserve("rome", `key-${this.#count}`, requestFor(1)));
    if (batch === undefined) throw new Error("paris has room for all of them");
    return batch;
  }

  async commit(store: Store, count: number): Promise<void> {
    for (let made = 0; made < count; made++) await store.commit(this.next());
    await store.saveAdvertisements(this.story.advertisements);
  }
}
