import type { CommitBatch } from "@resource-broker/broker";
import type { ReceivedAdvertisement } from "@resource-broker/domain";
import type { SeededRandom } from "@resource-broker/testkit";

/** A commit as it lies in the log. */
interface LogRecord {
  readonly number: number;
  text: string;
  readonly length: number;
  /** Read once, as often as it is wanted: nobody changes it. */
  readonly batch: CommitBatch;
}

/**
 * A disk with a cache before it. What was written can be read at once, by this process and the next, but only what was
 * synced survives when the power fails: of the rest, each piece is there, is lost, or is torn.
 */
export class SimDisk {
  readonly ledgerId: string;
  #log: LogRecord[] = [];
  /** So many records of the log are surely on the disk. */
  #synced = 0;
  /** True: writes fail. */
  isFull = false;
  readonly #advertisements = new Map<string, string>();
  readonly #cachedAdvertisements = new Map<string, string>();

  constructor(ledgerId: string) {
    this.ledgerId = ledgerId;
  }

  /** The number of the last commit that survives anything. */
  get syncedCommit(): number {
    return this.#log[this.#synced - 1]?.number ?? 0;
  }

  /** The number of the last commit that can be read. */
  get lastCommit(): number {
    return this.#log.at(-1)?.number ?? 0;
  }

  append(batch: CommitBatch): void {
    const text = JSON.stringify(batch);
    this.#log.push({ number: batch.number, text, length: text.length, batch: parse(text) });
  }

  /** Begins a sync: when the returned function is called, what was written before it began is safe. */
  sync(): () => void {
    const covered = this.#log.length;
    return () => {
      this.#synced = Math.max(this.#synced, Math.min(covered, this.#log.length));
      for (const [id, text] of this.#cachedAdvertisements) this.#advertisements.set(id, text);
      this.#cachedAdvertisements.clear();
    };
  }

  /** Commits after this number, as they can be read now. */
  commitsAfter(number: number): CommitBatch[] {
    return this.#log.filter((record) => record.number > number).map(({ batch }) => batch);
  }

  putAdvertisement(received: ReceivedAdvertisement): void {
    this.#cachedAdvertisements.set(received.advertisement.clusterId, JSON.stringify(received));
  }

  advertisements(): ReceivedAdvertisement[] {
    const all = new Map([...this.#advertisements, ...this.#cachedAdvertisements]);
    return [...all.values()].map((text) => parse<ReceivedAdvertisement>(text));
  }

  /** The power fails. Pieces are written in any order, so a later one may be there without an earlier one. */
  losePower(random: SeededRandom): void {
    for (const record of this.#log.slice(this.#synced)) {
      if (random.chance(0.5)) continue;
      record.text = record.text.slice(0, random.below(record.length));
    }
    for (const [id, text] of this.#cachedAdvertisements) {
      if (random.chance(0.5)) this.#advertisements.set(id, text);
    }
    this.#cachedAdvertisements.clear();
  }

  /** As a log is read after a crash: up to the first record that is not whole. */
  recover(): void {
    const whole = this.#log.findIndex(({ text, length }) => text.length !== length);
    if (whole !== -1) this.#log = this.#log.slice(0, whole);
    this.#synced = Math.min(this.#synced, this.#log.length);
  }
}

function parse<T>(text: string): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this class a moment ago
  return JSON.parse(text) as T;
}
