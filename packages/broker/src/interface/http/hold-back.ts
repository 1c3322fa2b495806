import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "@resource-broker/runtime";

/** Paused connections that are resumed per served request: fewer than the capacity that becomes free. */
const RESUMED_FOR_ONE = 0.1;
/** If no request is served for this long, all connections are resumed: a resumed connection may be idle. */
const QUIET_MS = 50;
/** A connection is paused at most this long: it may have to send a renewal, which is never refused. */
const LONGEST_MS = 2000;

/**
 * Backpressure for clients that retry at once. Refusing a request costs almost as much as serving it, so the connection of
 * a refused request is not read again until other requests are done. Its next requests wait in the kernel's buffers.
 */
export class HoldBack {
  readonly #after: Clock["after"];
  /** Paused connections in order of arrival, with the function that cancels their timeout. */
  readonly #held = new Map<Socket, () => void>();
  #credit = 0;
  #cancel: (() => void) | undefined;

  constructor(after: Clock["after"]) {
    this.#after = after;
  }

  get size(): number {
    return this.#held.size;
  }

  /** Pauses the connection after this reply is sent. */
  hold(response: ServerResponse): void {
    const { socket } = response;
    if (socket === null) return;
    // Not before: Node reads on, to skip what is left of the request.
    response.once("close", () => {
      if (socket.destroyed || this.#held.has(socket)) return;
      this.#held.set(
        socket,
        this.#after(LONGEST_MS, () => this.#release(socket)),
      );
      socket.pause();
      socket.once("close", () => this.#release(socket));
      this.#cancel ??= this.#after(QUIET_MS, () => this.#releaseAll());
    });
  }

  /** One request was served. */
  served(): void {
    if (this.#held.size === 0) return;
    this.#cancel?.();
    this.#cancel = this.#after(QUIET_MS, () => this.#releaseAll());
    this.#credit += RESUMED_FOR_ONE;
    for (const socket of this.#held.keys()) {
      if (this.#credit < 1) return;
      this.#credit--;
      this.#release(socket);
    }
  }

  stop(): void {
    this.#cancel?.();
    this.#releaseAll();
  }

  #releaseAll(): void {
    this.#cancel = undefined;
    this.#credit = 0;
    for (const socket of this.#held.keys()) this.#release(socket);
  }

  #release(socket: Socket): void {
    this.#held.get(socket)?.();
    this.#held.delete(socket);
    socket.resume();
  }
}
