import type { HistoryWindow } from "@resource-broker/contract/dashboard";
import type { Instant } from "@resource-broker/domain";

/** How long a window is, and in how many pieces: hour, day and week, each in its own grain. */
interface WindowShape {
  readonly stepMs: number;
  readonly length: number;
}

export const WINDOWS: Readonly<Record<HistoryWindow, WindowShape>> = {
  hour: { stepMs: 10_000, length: 360 },
  day: { stepMs: 300_000, length: 288 },
  week: { stepMs: 3_600_000, length: 168 },
};

export const WINDOW_NAMES: readonly HistoryWindow[] = ["hour", "day", "week"];

export function lengthMs({ stepMs, length }: WindowShape): number {
  return stepMs * length;
}

/** What a ring is beside its figures: the newest slot, and how many samples are in it. */
const RING_HEADER_BYTES = 16;

export interface RingShape extends WindowShape {
  /** Figures in each slot. */
  readonly width: number;
}

/**
 * The last slots of a window, each some figures. A slot is a piece of time counted from 1970, so that rings of other processes and
 * other days fit together. Slots that nobody wrote are NaN. Single precision: seven digits are more than a chart can show.
 */
export class SlotRing {
  readonly #shape: RingShape;
  readonly #values: Float32Array;
  #newest = -1;
  #samples = 0;

  constructor(shape: RingShape) {
    this.#shape = shape;
    this.#values = new Float32Array(shape.length * shape.width).fill(Number.NaN);
  }

  /** Slot of the newest figures; -1: there are none. */
  get newest(): number {
    return this.#newest;
  }

  slotAt(at: Instant): number {
    return Math.floor(at / this.#shape.stepMs);
  }

  /** A level at a moment: a slot shows the mean of its samples. */
  sample(at: Instant, values: ArrayLike<number>): void {
    const start = this.#open(at);
    if (start === undefined) return;
    this.#samples++;
    for (let index = 0; index < this.#shape.width; index++) {
      const before = this.#values[start + index] ?? 0;
      const now = values[index] ?? 0;
      this.#values[start + index] = this.#samples === 1 ? now : before + (now - before) / this.#samples;
    }
  }

  /** Something happened: a slot shows how often. A slot in which nothing did shows 0 once `touch` was called in it. */
  count(at: Instant, index: number): void {
    const start = this.touch(at);
    if (start !== undefined) this.#values[start + index] = (this.#values[start + index] ?? 0) + 1;
  }

  /** From now on the slot counts, from 0. */
  touch(at: Instant): number | undefined {
    const start = this.#open(at);
    if (start !== undefined && Number.isNaN(this.#values[start]))
      this.#values.fill(0, start, start + this.#shape.width);
    return start;
  }

  /** The figures of each slot up to a moment, oldest first; undefined where there are none. */
  read(now: Instant): (Float32Array | undefined)[] {
    const { length, width } = this.#shape;
    const last = this.slotAt(now);
    return Array.from({ length }, (_, index) => {
      const slot = last - length + 1 + index;
      if (slot < 0 || slot > this.#newest || slot <= this.#newest - length) return undefined;
      const start = (slot % length) * width;
      const values = this.#values.subarray(start, start + width);
      return Number.isNaN(values[0]) ? undefined : values;
    });
  }

  get byteLength(): number {
    return RING_HEADER_BYTES + this.#values.byteLength;
  }

  writeTo(bytes: Buffer, offset: number): void {
    bytes.writeDoubleLE(this.#newest, offset);
    bytes.writeDoubleLE(this.#samples, offset + 8);
    // Copied as raw bytes: writing value by value would block the event loop for a large fleet.
    bytes.set(this.#valueBytes, offset + RING_HEADER_BYTES);
  }

  readFrom(bytes: Buffer, offset: number): void {
    this.#newest = bytes.readDoubleLE(offset);
    this.#samples = bytes.readDoubleLE(offset + 8);
    const start = offset + RING_HEADER_BYTES;
    this.#valueBytes.set(bytes.subarray(start, start + this.#values.byteLength));
  }

  get #valueBytes(): Uint8Array {
    return new Uint8Array(this.#values.buffer);
  }

  /** Where the slot of a moment begins; undefined: it is older than the newest, and time never runs back. */
  #open(at: Instant): number | undefined {
    const { length, width } = this.#shape;
    const slot = this.slotAt(at);
    if (slot < this.#newest) return undefined;
    if (slot > this.#newest) {
      for (let gone = Math.max(this.#newest + 1, slot - length + 1); gone <= slot; gone++) {
        const start = (gone % length) * width;
        this.#values.fill(Number.NaN, start, start + width);
      }
      this.#newest = slot;
      this.#samples = 0;
    }
    return (slot % length) * width;
  }
}

/** The newest slot of the first ring that was written there. */
export function newestSlotIn(bytes: Buffer): number {
  return bytes.readDoubleLE(0);
}
