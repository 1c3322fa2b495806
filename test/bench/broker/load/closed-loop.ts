import type { Connection } from "./connection.ts";

export interface LoopOptions {
  readonly connections: readonly Connection[];
  /** Requests on their way at any time; connections take turns, so that no cluster exceeds its share of calls. */
  readonly inFlight: number;
  readonly request: (connection: Connection) => string;
  /** How long requests are begun; those on their way are waited for. */
  readonly forMs: number;
  /** No more requests than this. */
  readonly atMost?: number;
}

export interface LoopResult {
  readonly latenciesMs: readonly number[];
  readonly elapsedMs: number;
  /** How many replies had which status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** CPU time of this process: its share of one core says whether it was the bottleneck. */
  readonly ownCpuMs: number;
}

/** As soon as one request is answered, the next one leaves. */
export function closedLoop(options: LoopOptions): Promise<LoopResult> {
  const { connections, inFlight, request, forMs, atMost = Number.POSITIVE_INFINITY } = options;
  const latenciesMs: number[] = [];
  const statuses = new Map<number, number>();
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  const idle = new Ring(connections);
  let begun = 0;
  let open = 0;

  return new Promise((resolve) => {
    const next = (): void => {
      const now = performance.now();
      const connection = now - startedAt < forMs && begun < atMost ? idle.take() : undefined;
      if (connection === undefined) {
        if (open === 0) finish(now);
        return;
      }
      begun++;
      open++;
      connection.send(request(connection), (status) => {
        latenciesMs.push(performance.now() - now);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        open--;
        idle.put(connection);
        next();
      });
    };
    const finish = (now: number): void => {
      const { user, system } = process.cpuUsage(cpuBefore);
      resolve({ latenciesMs, statuses, elapsedMs: now - startedAt, ownCpuMs: (user + system) / 1000 });
    };
    for (let each = 0; each < Math.min(inFlight, connections.length); each++) next();
  });
}

/** A queue of fixed size: shifting an array of a thousand for every request would cost as much as the request. */
class Ring<T> {
  readonly #places: (T | undefined)[];
  #head = 0;
  #size: number;

  constructor(content: readonly T[]) {
    this.#places = [...content];
    this.#size = content.length;
  }

  take(): T | undefined {
    if (this.#size === 0) return undefined;
    const taken = this.#places[this.#head];
    this.#head = (this.#head + 1) % this.#places.length;
    this.#size--;
    return taken;
  }

  put(item: T): void {
    this.#places[(this.#head + this.#size) % this.#places.length] = item;
    this.#size++;
  }
}
