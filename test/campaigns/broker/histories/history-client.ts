import { setTimeout as sleep } from "node:timers/promises";
import { parseAmount } from "@resource-broker/base";
import { advertisementSchema, PATH, reservationSchema, validate } from "@resource-broker/contract";
import { isLive } from "@resource-broker/domain";
import type {
  BrokerClient,
  BrokerReply,
  History,
  ProviderOperation,
  ProviderResult,
  SeededRandom,
} from "@resource-broker/testkit";

const LONGEST_PAUSE_MS = 150;
const LONGEST_REST_MS = 1200;
/** Shorter than a broker needs to come back: some calls are never answered. */
const TIMEOUT_MS = 1500;

export interface HistoryClientDeps {
  readonly client: BrokerClient;
  /** May read what is free at the provider. */
  readonly admin: BrokerClient;
  readonly history: History;
  readonly random: SeededRandom;
  readonly problems: string[];
}

interface Order {
  readonly key: string;
  readonly cpu: number;
  id: string | undefined;
}

type Ask = () => Promise<BrokerReply>;
type Read = (reply: BrokerReply) => ProviderResult | undefined;

/** A real client that asks one provider for this and that, and writes down what it was told. */
export class HistoryClient {
  readonly #deps: HistoryClientDeps;
  readonly #orders: Order[] = [];

  constructor(deps: HistoryClientDeps) {
    this.#deps = deps;
  }

  /** One call after the other; called several times, so many at a time. */
  async work(operations: number): Promise<void> {
    for (let each = 0; each < operations; each++) {
      await this.#act();
      await sleep(this.#deps.random.below(LONGEST_PAUSE_MS));
    }
  }

  #act(): Promise<void> {
    const { random, client } = this.#deps;
    const roll = random.below(100);
    const known = random.pick(this.#orders);
    if (known === undefined || roll < 35) {
      const order = {
        key: `${client.clusterId}-${this.#orders.length}`,
        cpu: random.between(1, 4),
        id: undefined,
      };
      this.#orders.push(order);
      return this.#reserve(order);
    }
    if (roll < 50) return this.#reserve(known);
    if (roll < 70 || known.id === undefined) return this.#readFree();
    return this.#about(roll < 90 ? "release" : "read", known.key, known.id);
  }

  #reserve(order: Order): Promise<void> {
    const { client, history } = this.#deps;
    const { key, cpu } = order;
    const body = {
      requestedResources: { cpu: String(cpu), memory: "1" },
      targetClusterID: history.provider,
    };
    const ask: Ask = () => client.request("POST", PATH.reservations, { key, body, timeoutMs: TIMEOUT_MS });
    return this.#call({ kind: "reserve", key, cpu }, ask, (reply) => {
      if (reply.status === 409) return { kind: "refused" };
      const state = this.#stateIn(reply);
      order.id = state?.id ?? order.id;
      return state?.result;
    });
  }

  #about(kind: "release" | "read", key: string, id: string): Promise<void> {
    const { client } = this.#deps;
    const method = kind === "release" ? "DELETE" : "GET";
    const ask: Ask = () => client.request(method, PATH.reservation(id), { timeoutMs: TIMEOUT_MS });
    return this.#call({ kind, key }, ask, (reply) =>
      reply.status === 404 ? { kind: "absent" } : this.#stateIn(reply)?.result,
    );
  }

  #readFree(): Promise<void> {
    const { admin, history } = this.#deps;
    const path = PATH.advertisement(history.provider);
    const ask: Ask = () => admin.request("GET", path, { timeoutMs: TIMEOUT_MS });
    return this.#call({ kind: "read-free" }, ask, ({ body }) => {
      const read = validate(advertisementSchema, body);
      if (!read.ok) return undefined;
      const free = parseAmount(read.value.resources.available.cpu, { unit: "milli", rounding: "down" });
      return free.ok ? { kind: "free", cpu: free.amount / 1000 } : undefined;
    });
  }

  #stateIn({ body }: BrokerReply): { readonly id: string; readonly result: ProviderResult } | undefined {
    const read = validate(reservationSchema, body);
    if (!read.ok) return undefined;
    const { id, status } = read.value;
    return { id, result: { kind: isLive(status.phase) ? "live" : "ended" } };
  }

  async #call(operation: ProviderOperation, ask: Ask, read: Read): Promise<void> {
    const { history, problems, random } = this.#deps;
    const returned = history.invoke(operation);
    let reply: BrokerReply;
    try {
      reply = await ask();
    } catch {
      // Nobody answered: it may have happened, and may still happen. Too many such calls explain anything.
      await sleep(random.below(LONGEST_REST_MS));
      return;
    }
    // Too busy, too often, or not leading: said so, and nothing happened.
    const isTurnedAway = reply.status === 429 || reply.status === 503;
    const result = isTurnedAway ? "nothing happened" : read(reply);
    if (result === undefined)
      problems.push(`${operation.kind}: ${reply.status} ${JSON.stringify(reply.body)}`);
    else returned(result);
  }
}
