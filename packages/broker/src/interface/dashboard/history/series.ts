import type { HistoryWindow } from "@resource-broker/contract/dashboard";
import type { Instant } from "@resource-broker/domain";
import { newestSlotIn, SlotRing, WINDOW_NAMES, WINDOWS } from "./slot-ring.ts";

/** The same figures over an hour, a day and a week. */
export class Series {
  readonly #rings: ReadonlyMap<HistoryWindow, SlotRing>;

  constructor(width: number) {
    this.#rings = new Map(WINDOW_NAMES.map((name) => [name, new SlotRing({ ...WINDOWS[name], width })]));
  }

  sample(at: Instant, values: ArrayLike<number>): void {
    for (const ring of this.#rings.values()) ring.sample(at, values);
  }

  count(at: Instant, index: number): void {
    for (const ring of this.#rings.values()) ring.count(at, index);
  }

  touch(at: Instant): void {
    for (const ring of this.#rings.values()) ring.touch(at);
  }

  read(window: HistoryWindow, now: Instant): (Float32Array | undefined)[] {
    return this.#rings.get(window)?.read(now) ?? [];
  }

  /** When it was last written to, to the grain of its finest ring. */
  get newestAt(): Instant {
    const { stepMs } = WINDOWS.hour;
    return (this.#rings.get("hour")?.newest ?? -1) * stepMs;
  }

  get byteLength(): number {
    let bytes = 0;
    for (const ring of this.#rings.values()) bytes += ring.byteLength;
    return bytes;
  }

  toBytes(): Buffer {
    const bytes = Buffer.alloc(this.byteLength);
    let offset = 0;
    for (const ring of this.#rings.values()) {
      ring.writeTo(bytes, offset);
      offset += ring.byteLength;
    }
    return bytes;
  }

  /** Takes over what another series of the same width wrote. */
  fromBytes(bytes: Buffer): void {
    let offset = 0;
    for (const ring of this.#rings.values()) {
      ring.readFrom(bytes, offset);
      offset += ring.byteLength;
    }
  }
}

/** When a series that was written as bytes was last written to. */
export function newestIn(bytes: Buffer): Instant {
  return newestSlotIn(bytes) * WINDOWS.hour.stepMs;
}
