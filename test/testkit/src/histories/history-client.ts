import type { SeededRandom } from "../broker/seeded-random.ts";
import type { History } from "./history.ts";
import type { ProviderOperation, ProviderResult } from "./provider-object.ts";

/** A reservation that the client has asked for. */
interface Order {
  readonly history: History;
  readonly key: string;
  readonly cpu: number;
  /** It waits if there is no room. */
  readonly isPatient: boolean;
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
  /** Its keys begin with it, and it is the tenant that they count for. */
  readonly name: string;
  /** Of the one provider that it asks: what it holds elsewhere would change its share. */
  readonly history: History;
  readonly random: SeededRandom;
  /** Undefined: nobody answered. It may have happened, and may still happen. */
  readonly ask: (call: HistoryCall) => Promise<HistoryAnswer | undefined>;
}

/** How many of its requests wait if there is no room. */
const PATIENT = 0.5;

/** A client that reserves, waits, releases and reads at a provider, and writes down what it was told. */
export class HistoryClient {
  readonly #options: HistoryClientOptions;
  readonly #orders: Order[] = [];
  /** Asked for and not answered: asked for again before anything else, as agents do. */
  readonly #unanswered: Order[] = [];

  constructor(options: HistoryClientOptions) {
    this.#options = options;
  }

  /** One call; several may be on their way at the same time. */
  async act(): Promise<void> {
    const { order, operation } = this.#next();
    const { history, id = "" } = order;
    const returned = history.invoke(operation);
    const answer = await this.#options.ask({ provider: history.provider, operation, id });
    if (answer === undefined) {
      if (operation.kind === "reserve") this.#unanswered.push(order);
      return;
    }
    if (answer.id !== undefined) order.id = answer.id;
    returned(answer.result);
  }

  #next(): { readonly order: Order; readonly operation: ProviderOperation } {
    const { random } = this.#options;
    const unanswered = this.#unanswered.shift();
    if (unanswered !== undefined) return { order: unanswered, operation: this.#reserve(unanswered) };
    const roll = random.below(100);
    const known = random.pick(this.#orders);
    if (known === undefined || roll < 50) {
      const order = known === undefined || roll < 35 ? this.#newOrder() : known;
      return { order, operation: this.#reserve(order) };
    }
    if (roll < 60 || known.id === undefined) return { order: known, operation: { kind: "read-free" } };
    if (roll < 70) return { order: known, operation: { kind: "read-queue", tenant: this.#options.name } };
    return { order: known, operation: { kind: roll < 90 ? "release" : "read", key: known.key } };
  }

  #reserve({ key, cpu, isPatient }: Order): ProviderOperation {
    return { kind: "reserve", key, cpu, tenant: this.#options.name, ...(isPatient ? { wait: true } : {}) };
  }

  #newOrder(): Order {
    const { name, history, random } = this.#options;
    const order = {
      history,
      key: `${name}-${this.#orders.length}`,
      cpu: random.between(1, 4),
      isPatient: random.chance(PATIENT),
    };
    this.#orders.push(order);
    return order;
  }
}
