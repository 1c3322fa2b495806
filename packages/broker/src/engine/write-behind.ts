import type { ClusterId, ReceivedAdvertisement } from "@resource-broker/domain";
import type { Clock } from "./clock.ts";

const WRITE_WITHIN_MS = 1000;

/** Collects the newest advertisement of each cluster and saves them together, at most a second later. */
export class WriteBehind {
  readonly #save: (advertisements: readonly ReceivedAdvertisement[]) => Promise<void>;
  readonly #onError: (error: Error) => void;
  readonly #clock: Clock;
  #unsaved = new Map<ClusterId, ReceivedAdvertisement>();
  #cancel: (() => void) | undefined;

  constructor(options: {
    readonly clock: Clock;
    readonly save: (advertisements: readonly ReceivedAdvertisement[]) => Promise<void>;
    readonly onError: (error: Error) => void;
  }) {
    this.#clock = options.clock;
    this.#save = options.save;
    this.#onError = options.onError;
  }

  add(received: ReceivedAdvertisement): void {
    this.#unsaved.set(received.advertisement.clusterId, received);
    this.#cancel ??= this.#clock.after(WRITE_WITHIN_MS, () => void this.flush());
  }

  /** Saves now. What cannot be saved is kept for the next time, unless something newer came meanwhile. */
  async flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
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

  /** Saves what it can, and then no more. */
  async stop(): Promise<void> {
    await this.flush();
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
