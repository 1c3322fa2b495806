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

interface CachedAdvertisement {
  readonly clusterId: string;
  readonly text: string;
  /** The commit that it is part of: it is there with it, or not at all. */
  readonly commit?: number;
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
  /** Not surely on the disk yet, in the order they were written. */
  #cachedAdvertisements: CachedAdvertisement[] = [];

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
    for (const received of batch.advertisements ?? []) this.#cache(received, { commit: batch.number });
  }

  /** Begins a sync: when the returned function is called, what was written before it began is safe. */
  sync(): () => void {
    const covered = this.#log.length;
    const safe = new Set(this.#cachedAdvertisements);
    return () => {
      this.#synced = Math.max(this.#synced, Math.min(covered, this.#log.length));
      this.#secure((each) => safe.has(each));
      this.#cachedAdvertisements = this.#cachedAdvertisements.filter((each) => !safe.has(each));
    };
  }

  /** Commits after this number, as they can be read now. */
  commitsAfter(number: number): CommitBatch[] {
    return this.#log.filter((record) => record.number > number).map(({ batch }) => batch);
  }

  putAdvertisement(received: ReceivedAdvertisement): void {
    this.#cache(received, {});
  }

  advertisements(): ReceivedAdvertisement[] {
    const cached = this.#cachedAdvertisements.map(({ clusterId, text }) => [clusterId, text] as const);
    const all = new Map([...this.#advertisements, ...cached]);
    return [...all.values()].map((text) => parse<ReceivedAdvertisement>(text));
  }

  /** The power fails. Pieces are written in any order, so a later one may be there without an earlier one. */
  losePower(random: SeededRandom): void {
    for (const record of this.#log.slice(this.#synced)) {
      if (random.chance(0.5)) continue;
      record.text = record.text.slice(0, random.below(record.length));
    }
    const torn = this.#log.find(isTorn)?.number ?? Number.POSITIVE_INFINITY;
    this.#secure(({ commit }) => (commit === undefined ? random.chance(0.5) : commit < torn));
    this.#cachedAdvertisements = [];
  }

  /** As a log is read after a crash: up to the first record that is not whole. */
  recover(): void {
    const whole = this.#log.findIndex(isTorn);
    if (whole !== -1) this.#log = this.#log.slice(0, whole);
    this.#synced = Math.min(this.#synced, this.#log.length);
  }

  #cache(received: ReceivedAdvertisement, commit: { readonly commit?: number }): void {
    const { clusterId } = received.advertisement;
    this.#cachedAdvertisements.push({ clusterId, text: JSON.stringify(received), ...commit });
  }

  #secure(isSafe: (each: CachedAdvertisement) => boolean): void {
    for (const each of this.#cachedAdvertisements)
      if (isSafe(each)) this.#advertisements.set(each.clusterId, each.text);
  }
}

function isTorn({ text, length }: LogRecord): boolean {
  return text.length !== length;
}

function parse<T>(text: string): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this class a moment ago
  return JSON.parse(text) as T;
}
