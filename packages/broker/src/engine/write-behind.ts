import type { Clock } from "@resource-broker/base";
import {
  type Advertisement,
  type ClusterId,
  mustBeDurable,
  type ReceivedAdvertisement,
} from "@resource-broker/domain";

const WRITE_WITHIN_MS = 1000;

/** The last advertisement of a cluster in this process. */
interface LatestAdvertisement {
  readonly advertisement: Advertisement;
  /** True if the durable state of this cluster allows no more than this advertisement. */
  readonly isSafe: boolean;
}

/**
 * Collects the newest advertisement of each cluster and saves them together, at most a second later. Knows which of them
 * cannot wait for that: a crash would bring back one that allows more (docs/adr/0019).
 */
export class WriteBehind {
  readonly #save: (advertisements: readonly ReceivedAdvertisement[]) => Promise<void>;
  readonly #onError: (error: Error) => void;
  readonly #clock: Pick<Clock, "after">;
  readonly #latest = new Map<ClusterId, LatestAdvertisement>();
  #unsaved = new Map<ClusterId, ReceivedAdvertisement>();
  #cancel: (() => void) | undefined;
  /** One save at a time, so that an older advertisement never overwrites a newer one. */
  #saving = Promise.resolve();

  constructor(options: {
    readonly clock: Pick<Clock, "after">;
    readonly save: (advertisements: readonly ReceivedAdvertisement[]) => Promise<void>;
    readonly onError: (error: Error) => void;
  }) {
    this.#clock = options.clock;
    this.#save = options.save;
    this.#onError = options.onError;
  }

  /**
   * Adds the newest advertisement of a cluster. Returns true if it may be answered now, false if it must be committed first.
   * `before` was in force until now; an earlier process may have answered a newer one that was not written.
   */
  add(received: ReceivedAdvertisement, before: Advertisement | undefined): boolean {
    const { advertisement } = received;
    const { clusterId, instance } = advertisement;
    const last = this.#latest.get(clusterId);
    // An unknown cluster provides nothing after a crash, so its first advertisement can wait, unless it has an instance.
    const isSafe =
      last === undefined
        ? before === undefined && instance === undefined
        : last.isSafe && !mustBeDurable(last.advertisement, advertisement);
    this.#latest.set(clusterId, { advertisement, isSafe });
    this.#unsaved.set(clusterId, received);
    this.#cancel ??= this.#clock.after(WRITE_WITHIN_MS, () => void this.flush());
    return isSafe;
  }

  /** Marks these advertisements as durable, except those replaced while the commit was in flight. */
  committed(advertisements: readonly ReceivedAdvertisement[]): void {
    for (const { advertisement } of advertisements) {
      const { clusterId } = advertisement;
      if (this.#latest.get(clusterId)?.advertisement !== advertisement) continue;
      this.#latest.set(clusterId, { advertisement, isSafe: true });
      this.#unsaved.delete(clusterId);
    }
  }

  /** Resolves when nothing is being saved: what is committed then is not replaced by something older. */
  async idle(): Promise<void> {
    for (let awaited: Promise<void> | undefined; awaited !== this.#saving; ) {
      awaited = this.#saving;
      await awaited;
    }
  }

  /** Saves now. What cannot be saved is kept for the next time, unless something newer came meanwhile. */
  flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#saving = this.#saving.then(() => this.#saveAll());
    return this.#saving;
  }

  /** Saves what it can, and then no more. */
  async stop(): Promise<void> {
    await this.flush();
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async #saveAll(): Promise<void> {
    const saving = this.#unsaved;
    if (saving.size === 0) return;
    this.#unsaved = new Map();
    try {
      await this.#save([...saving.values()]);
    } catch (error) {
      this.#unsaved = new Map([...saving, ...this.#unsaved]);
      this.#onError(error instanceof Error ? error : new Error(String(error)));
      this.#cancel ??= this.#clock.after(WRITE_WITHIN_MS, () => void this.flush());
    }
  }
}
