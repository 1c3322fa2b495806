import type { SeededRandom } from "../broker/seeded-random.ts";
import type { History } from "./history.ts";
import type { ProviderOperation, ProviderResult } from "./provider-object.ts";

/** A reservation that the client has asked for. */
interface Order {
  readonly history: History;
  readonly key: string;
  readonly cpu: number;
  /** Its name, once the broker has told it. */
  id?: string;
}

/** One call on its way to a provider. */
export interface HistoryCall {
  readonly provider: string;
  readonly operation: ProviderOperation;
  /** The name of the reservation that is released or read. */
  readonly id: string;
}

/** What the broker said, and the name of the reservation where it told one. */
export interface HistoryAnswer {
  readonly result: ProviderResult | "nothing happened";
  readonly id?: string;
}

export interface HistoryClientOptions {
  /** Its keys begin with it. */
  readonly name: string;
  readonly histories: readonly [History, ...History[]];
  readonly random: SeededRandom;
  /** Undefined: nobody answered. It may have happened, and may still happen. */
  readonly ask: (call: HistoryCall) => Promise<HistoryAnswer | undefined>;
}

/** A client that reserves, releases and reads at providers, and writes down what it was told. */
export class HistoryClient {
  readonly #options: HistoryClientOptions;
  readonly #orders: Order[] = [];

  constructor(options: HistoryClientOptions) {
    this.#options = options;
  }

  /** One call; several may be on their way at the same time. */
  async act(): Promise<void> {
    const { order, operation } = this.#next();
    const { history, id = "" } = order;
    const returned = history.invoke(operation);
    const answer = await this.#options.ask({ provider: history.provider, operation, id });
    if (answer === undefined) return;
    if (answer.id !== undefined) order.id = answer.id;
    returned(answer.result);
  }

  #next(): { readonly order: Order; readonly operation: ProviderOperation } {
    const { random } = this.#options;
    const roll = random.below(100);
    const known = random.pick(this.#orders);
    if (known === undefined || roll < 50) {
      const order = known === undefined || roll < 35 ? this.#newOrder() : known;
      return { order, operation: { kind: "reserve", key: order.key, cpu: order.cpu } };
    }
    if (roll < 70 || known.id === undefined) return { order: known, operation: { kind: "read-free" } };
    return { order: known, operation: { kind: roll < 90 ? "release" : "read", key: known.key } };
  }

  #newOrder(): Order {
    const { name, histories, random } = this.#options;
    const history = random.pick(histories) ?? histories[0];
    const order = { history, key: `${name}-${this.#orders.length}`, cpu: random.between(1, 4) };
    this.#orders.push(order);
    return order;
  }
}
