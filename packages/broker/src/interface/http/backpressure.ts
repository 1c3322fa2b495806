import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "@resource-broker/base";

/** Paused connections that are resumed per served request: fewer than the capacity that becomes free. */
const RESUMED_PER_SERVED = 0.1;
/** If no request is served for this long, all connections are resumed: a resumed connection may be idle. */
const QUIET_MS = 50;
/** A connection is paused at most this long: it may have to send a renewal, which is never refused. */
const MAX_PAUSE_MS = 2000;

/**
 * Backpressure for clients that retry at once. Refusing a request costs almost as much as serving it, so the connection of
 * a refused request is not read again until other requests are done. Its next requests wait in the kernel's buffers.
 */
export class Backpressure {
  readonly #after: Clock["after"];
  /** Paused connections in order of arrival, with the function that cancels their timeout. */
  readonly #paused = new Map<Socket, () => void>();
  #credit = 0;
  #cancel: (() => void) | undefined;

  constructor(after: Clock["after"]) {
    this.#after = after;
  }

  get size(): number {
    return this.#paused.size;
  }

  /** Pauses the connection after this reply is sent. */
  pauseAfter(response: ServerResponse): void {
    const { socket } = response;
    if (socket === null) return;
    // Not before: Node reads on, to skip what is left of the request.
    response.once("close", () => {
      if (socket.destroyed || this.#paused.has(socket)) return;
      this.#paused.set(
        socket,
        this.#after(MAX_PAUSE_MS, () => this.#resume(socket)),
      );
      socket.pause();
      socket.once("close", () => this.#resume(socket));
      this.#cancel ??= this.#after(QUIET_MS, () => this.#resumeAll());
    });
  }

  /** One request was served. */
  served(): void {
    if (this.#paused.size === 0) return;
    this.#cancel?.();
    this.#cancel = this.#after(QUIET_MS, () => this.#resumeAll());
    this.#credit += RESUMED_PER_SERVED;
    for (const socket of this.#paused.keys()) {
      if (this.#credit < 1) return;
      this.#credit--;
      this.#resume(socket);
    }
  }

  stop(): void {
    this.#cancel?.();
    this.#resumeAll();
  }

  #resumeAll(): void {
    this.#cancel = undefined;
    this.#credit = 0;
    for (const socket of this.#paused.keys()) this.#resume(socket);
  }

  #resume(socket: Socket): void {
    this.#paused.get(socket)?.();
    this.#paused.delete(socket);
    socket.resume();
  }
}
