import type { ClusterId, Instant } from "@resource-broker/domain";
import type { EventStream } from "./event-stream.ts";

export interface OpenStreamsOptions {
  readonly maxPerCluster: number;
  readonly maxLagMs: number;
  /** Number of ticks between two heartbeats of a stream. */
  readonly ticksPerHeartbeat: number;
}

/** All open streams. One timer wheel sends the heartbeats: a timer per stream would cost more than the stream. */
export class OpenStreams {
  readonly #options: OpenStreamsOptions;
  readonly #byCluster = new Map<ClusterId, EventStream[]>();
  readonly #wheel: readonly Set<EventStream>[];
  readonly #slots = new Map<EventStream, Set<EventStream>>();
  readonly #laggingSince = new Map<EventStream, Instant>();
  #opened = 0;
  #ticks = 0;

  constructor(options: OpenStreamsOptions) {
    this.#options = options;
    this.#wheel = Array.from({ length: options.ticksPerHeartbeat }, () => new Set<EventStream>());
  }

  get size(): number {
    return this.#slots.size;
  }

  /**
   * If a cluster has too many streams, its oldest is closed: it is usually a broken connection. An admin with the name of a
   * cluster has its own.
   */
  add(stream: EventStream): void {
    const streams = this.#byCluster.get(stream.clusterId) ?? [];
    const own = streams.filter(({ isAdmin }) => isAdmin === stream.isAdmin);
    if (own.length >= this.#options.maxPerCluster) own[0]?.end();
    this.#byCluster.set(stream.clusterId, [...streams, stream]);
    const slot = this.#wheel[this.#opened++ % this.#wheel.length];
    if (slot === undefined) return;
    slot.add(stream);
    this.#slots.set(stream, slot);
  }

  remove(stream: EventStream): void {
    this.#slots.get(stream)?.delete(stream);
    this.#slots.delete(stream);
    this.#laggingSince.delete(stream);
    const left = this.of(stream.clusterId).filter((other) => other !== stream);
    if (left.length === 0) this.#byCluster.delete(stream.clusterId);
    else this.#byCluster.set(stream.clusterId, left);
  }

  of(clusterId: ClusterId): readonly EventStream[] {
    return this.#byCluster.get(clusterId) ?? [];
  }

  all(): Iterable<EventStream> {
    return this.#slots.keys();
  }

  send(stream: EventStream, events: readonly string[], now: Instant): void {
    this.#noteLag(stream, stream.send(events), now);
  }

  #noteLag(stream: EventStream, flows: boolean, now: Instant): void {
    if (!flows && !this.#laggingSince.has(stream)) this.#laggingSince.set(stream, now);
  }

  /** Sends due heartbeats and disconnects readers that lag for too long. */
  tick(now: Instant): void {
    const due = this.#wheel[this.#ticks++ % this.#wheel.length] ?? [];
    for (const stream of due) this.#noteLag(stream, stream.heartbeat(), now);
    for (const [stream, since] of this.#laggingSince) {
      if (!stream.isLagging) this.#laggingSince.delete(stream);
      else if (now - since > this.#options.maxLagMs) stream.drop();
    }
  }
}
