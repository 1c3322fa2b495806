import { resourceVector } from "@resource-broker/base";
import { isLive, type Reservation } from "@resource-broker/domain";
import type { History, ProviderOperation, ProviderResult, SeededRandom } from "@resource-broker/testkit";
import type { ApiCall, ApiReply, Network } from "../environment/network.ts";
import type { Scheduler } from "../environment/scheduler.ts";

const LONGEST_PAUSE_MS = 200;

export interface RecordingRequesterDeps {
  readonly name: string;
  readonly histories: readonly History[];
  readonly network: Network;
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  /** Operations still to be made, by all together. */
  readonly isOver: () => boolean;
}

interface Order {
  readonly key: string;
  readonly cpu: number;
  readonly history: History;
  id: string | undefined;
}

/** One requester with several calls on their way at a time, who writes down what it asked and what it was told. */
export class RecordingRequester {
  readonly #deps: RecordingRequesterDeps;
  readonly #orders: Order[] = [];

  constructor(deps: RecordingRequesterDeps) {
    this.#deps = deps;
  }

  /** One call after the other. */
  work(): void {
    const { scheduler, random, name, isOver } = this.#deps;
    if (isOver()) return;
    this.#act(() => scheduler.after(random.below(LONGEST_PAUSE_MS), `${name} goes on`, () => this.work()));
  }

  #act(done: () => void): void {
    const { random, histories, name } = this.#deps;
    const roll = random.below(100);
    const known = random.pick(this.#orders);
    if (known === undefined || roll < 35) {
      const history = random.pick(histories);
      if (history === undefined) return;
      const order = {
        key: `${name}-${this.#orders.length}`,
        cpu: random.between(1, 4),
        history,
        id: undefined,
      };
      this.#orders.push(order);
      return this.#reserve(order, done);
    }
    if (roll < 50) return this.#reserve(known, done);
    if (roll < 70 || known.id === undefined) return this.#readFree(known.history, done);
    if (roll < 90) return this.#release({ ...known, id: known.id }, done);
    return this.#read({ ...known, id: known.id }, done);
  }

  #reserve(order: Order, done: () => void): void {
    const { key, cpu, history } = order;
    const request = {
      resources: resourceVector({ cpuMillis: cpu * 1000, memoryBytes: 1 }),
      priority: 0,
      constraints: {},
      tier: "on-demand",
      target: history.provider,
    } as const;
    const call: ApiCall = { kind: "reserve", requester: this.#deps.name, request, key };
    this.#call(history, { operation: { kind: "reserve", key, cpu }, ask: call, done }, (answer) => {
      if (answer.kind !== "reply") return undefined;
      const { reply } = answer;
      if (reply.kind === "refused") return { kind: "refused" };
      if (reply.kind !== "granted" && reply.kind !== "current") return undefined;
      order.id = reply.reservation.id;
      return stateOf(reply.reservation);
    });
  }

  #release({ key, id, history }: Order & { readonly id: string }, done: () => void): void {
    const by = { clusterId: this.#deps.name, isAdmin: false };
    const call: ApiCall = { kind: "command", command: { kind: "release", by, id } };
    this.#call(history, { operation: { kind: "release", key }, ask: call, done }, (answer) => {
      if (answer.kind !== "reply") return undefined;
      return answer.reply.kind === "current" ? stateOf(answer.reply.reservation) : { kind: "absent" };
    });
  }

  #read({ key, id, history }: Order & { readonly id: string }, done: () => void): void {
    const call: ApiCall = { kind: "read", by: { clusterId: this.#deps.name, isAdmin: false }, id };
    this.#call(history, { operation: { kind: "read", key }, ask: call, done }, (answer) =>
      answer.kind === "reservation" ? stateOf(answer.reservation) : undefined,
    );
  }

  #readFree(history: History, done: () => void): void {
    const call: ApiCall = { kind: "read-free", clusterId: history.provider };
    this.#call(history, { operation: { kind: "read-free" }, ask: call, done }, (answer) =>
      answer.kind === "free" ? { kind: "free", cpu: (answer.cpuMillis ?? 0) / 1000 } : undefined,
    );
  }

  #call(
    history: History,
    { operation, ask: call, done }: { operation: ProviderOperation; ask: ApiCall; done: () => void },
    read: (answer: ApiReply) => ProviderResult | undefined,
  ): void {
    const { network, name } = this.#deps;
    const returned = history.invoke(operation);
    network.call(name, call, (answer) => {
      // No answer: it may have happened, and may still happen; the history keeps it as it is.
      if (answer !== undefined) returned(read(answer) ?? "nothing happened");
      done();
    });
  }
}

function stateOf(reservation: Reservation | undefined): ProviderResult {
  if (reservation === undefined) return { kind: "absent" };
  return { kind: isLive(reservation.phase) ? "live" : "ended" };
}
