import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { MachineTime } from "@resource-broker/runtime";

/** Held connections that are read again for each request that was served: fewer than places become free. */
const RESUMED_FOR_ONE = 0.1;
/** Whoever is read again may have nothing to say: if nobody is served for so long, all may speak. */
const QUIET_MS = 50;
/** Nobody is held for longer: it may have a renewal to send, which is never turned away. */
const LONGEST_MS = 2000;

/**
 * Turning a request away costs a good part of serving it. Whoever asks again at once would leave no time for the others:
 * so a connection that was turned away is not read again before requests of others are done. What it sends meanwhile
 * waits in the system's buffers, which costs nothing.
 */
export class HoldBack {
  readonly #after: MachineTime["after"];
  /** In the order they came, with what takes back their time-out. */
  readonly #held = new Map<Socket, () => void>();
  #credit = 0;
  #cancel: (() => void) | undefined;

  constructor(after: MachineTime["after"]) {
    this.#after = after;
  }

  get size(): number {
    return this.#held.size;
  }

  /** Holds the connection of this reply back as soon as the reply is out. */
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
