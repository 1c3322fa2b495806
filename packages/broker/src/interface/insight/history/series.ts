import type { HistoryWindow } from "@resource-broker/contract";
import type { Instant } from "@resource-broker/domain";

/** How long a window is, and in how many slots. */
export interface WindowShape {
  readonly stepMs: number;
  readonly length: number;
}

export const WINDOWS: Readonly<Record<HistoryWindow, WindowShape>> = {
  hour: { stepMs: 10_000, length: 360 },
  day: { stepMs: 300_000, length: 288 },
  week: { stepMs: 3_600_000, length: 168 },
};

/** The order in which a series is stored. */
const WINDOW_NAMES: readonly HistoryWindow[] = ["hour", "day", "week"];

export function lengthMs({ stepMs, length }: WindowShape): number {
  return stepMs * length;
}

/** The start of the oldest slot that a window shows. */
export function startOf(window: HistoryWindow, now: Instant): Instant {
  const { stepMs, length } = WINDOWS[window];
  return (Math.floor(now / stepMs) - length + 1) * stepMs;
}

/** What is stored of a ring beside its figures: the newest slot, and how many samples are in it. */
const RING_HEADER_BYTES = 16;

/** The last slots of one window. Slots that nobody wrote are NaN. */
interface Ring extends WindowShape {
  readonly values: Float32Array;
  /** -1: none. */
  newest: number;
  samples: number;
}

/**
 * The same figures over an hour, a day and a week. A slot is a piece of time counted from 1970, so that figures of other
 * processes and other days fit together. Single precision: seven digits are more than a chart can show.
 */
export class Series {
  readonly #width: number;
  readonly #rings: ReadonlyMap<HistoryWindow, Ring>;

  constructor(width: number, shapes: Readonly<Record<HistoryWindow, WindowShape>> = WINDOWS) {
    this.#width = width;
    this.#rings = new Map(
      WINDOW_NAMES.map((name) => {
        const values = new Float32Array(shapes[name].length * width).fill(Number.NaN);
        return [name, { ...shapes[name], values, newest: -1, samples: 0 }];
      }),
    );
  }

  /** A level at a moment: a slot shows the mean of its samples. */
  sample(at: Instant, values: ArrayLike<number>): void {
    for (const ring of this.#rings.values()) {
      const start = this.#open(ring, at);
      if (start === undefined) continue;
      ring.samples++;
      for (let index = 0; index < this.#width; index++) {
        const before = ring.values[start + index] ?? 0;
        const now = values[index] ?? 0;
        ring.values[start + index] = ring.samples === 1 ? now : before + (now - before) / ring.samples;
      }
    }
  }

  /** Something happened: a slot shows how often. A slot in which nothing did shows 0 once `touch` was called in it. */
  count(at: Instant, index: number): void {
    this.#openAll(at, ({ values }, start) => {
      values[start + index] = (values[start + index] ?? 0) + 1;
    });
  }

  /** From now on the slot counts, from 0. */
  touch(at: Instant): void {
    this.#openAll(at, () => undefined);
  }

  /** The figures of each slot up to a moment, oldest first; undefined where there are none. */
  read(window: HistoryWindow, now: Instant): (Float32Array | undefined)[] {
    const ring = this.#rings.get(window);
    if (ring === undefined) return [];
    const { stepMs, length, newest } = ring;
    const first = Math.floor(now / stepMs) - length + 1;
    return Array.from({ length }, (_, index) => {
      const slot = first + index;
      if (slot < 0 || slot > newest || slot <= newest - length) return undefined;
      const start = (slot % length) * this.#width;
      const values = ring.values.subarray(start, start + this.#width);
      return Number.isNaN(values[0]) ? undefined : values;
    });
  }

  /** When it was last written to, to the grain of its finest ring. */
  get newestAt(): Instant {
    const { newest = -1, stepMs = 0 } = this.#rings.get("hour") ?? {};
    return newest * stepMs;
  }

  get byteLength(): number {
    return [...this.#rings.values()].reduce((sum, ring) => sum + bytesOf(ring), 0);
  }

  toBytes(): Buffer {
    const bytes = Buffer.alloc(this.byteLength);
    let offset = 0;
    for (const ring of this.#rings.values()) {
      bytes.writeDoubleLE(ring.newest, offset);
      bytes.writeDoubleLE(ring.samples, offset + 8);
      // Copied as raw bytes: writing value by value would block the event loop for a large fleet.
      bytes.set(new Uint8Array(ring.values.buffer), offset + RING_HEADER_BYTES);
      offset += bytesOf(ring);
    }
    return bytes;
  }

  /** Takes over what another series of the same width wrote. */
  fromBytes(bytes: Buffer): void {
    let offset = 0;
    for (const ring of this.#rings.values()) {
      ring.newest = bytes.readDoubleLE(offset);
      ring.samples = bytes.readDoubleLE(offset + 8);
      const end = offset + bytesOf(ring);
      new Uint8Array(ring.values.buffer).set(bytes.subarray(offset + RING_HEADER_BYTES, end));
      offset = end;
    }
  }

  #openAll(at: Instant, act: (ring: Ring, start: number) => void): void {
    for (const ring of this.#rings.values()) {
      const start = this.#open(ring, at);
      if (start === undefined) continue;
      if (Number.isNaN(ring.values[start])) ring.values.fill(0, start, start + this.#width);
      act(ring, start);
    }
  }

  /** Where the slot of a moment begins; undefined: it is older than the newest, and time never runs back. */
  #open(ring: Ring, at: Instant): number | undefined {
    const { stepMs, length, newest, values } = ring;
    const slot = Math.floor(at / stepMs);
    if (slot < newest) return undefined;
    if (slot > newest) {
      for (let gone = Math.max(newest + 1, slot - length + 1); gone <= slot; gone++) {
        const start = (gone % length) * this.#width;
        values.fill(Number.NaN, start, start + this.#width);
      }
      ring.newest = slot;
      ring.samples = 0;
    }
    return (slot % length) * this.#width;
  }
}

function bytesOf({ values }: Ring): number {
  return RING_HEADER_BYTES + values.byteLength;
}

/** When a series that was written as bytes was last written to. */
export function newestIn(bytes: Buffer): Instant {
  return bytes.readDoubleLE(0) * WINDOWS.hour.stepMs;
}
