import { setTimeout as sleep } from "node:timers/promises";
import {
  decisionSchema,
  errorSchema,
  HEADER,
  PATH,
  type ReservationDTO,
  reservationSchema,
  validate,
} from "@resource-broker/contract";
import {
  type BrokerClient,
  type BrokerReply,
  type CallOptions,
  reservationBody,
  type SeededRandom,
} from "@resource-broker/testkit";
import type { Gate } from "./gate.ts";
import { newOrder, type Order } from "./order.ts";

/** How often a client misbehaves. */
const MISCHIEF = { hangUpMidway: 0.05, hangUpAfter: 0.15, twins: 0.15, again: 0.1 };
const LONGEST_PATIENCE_MS = 25;
const LONGEST_PAUSE_MS = 40;
/** Enough for a broker to be killed and to come back, a minute at least. */
const MOST_TRIES = 3000;
const LARGEST = { cpu: 4, memoryGi: 8 };

export interface ShopperDeps {
  readonly client: BrokerClient;
  readonly gate: Gate;
  readonly random: SeededRandom;
  readonly orders: Order[];
  readonly problems: string[];
  /** Called when an order is acknowledged. */
  readonly heard: () => void;
}

type Call = (client: BrokerClient, mischief: Pick<CallOptions, "hangUp">) => Promise<BrokerReply>;
type Outcome = "acknowledged" | "refused" | "try again";

/** A load client: repeats each request with its key until it gets an answer. */
export class Shopper {
  readonly #deps: ShopperDeps;
  readonly #own: Order[] = [];

  constructor(deps: ShopperDeps) {
    this.#deps = deps;
  }

  async order(isStopped: () => boolean): Promise<void> {
    const { client, random, orders } = this.#deps;
    const size = { cpu: random.between(1, LARGEST.cpu), memoryGi: random.between(1, LARGEST.memoryGi) };
    const order = newOrder(client.clusterId, `key-${this.#own.length}`, size);
    this.#own.push(order);
    orders.push(order);
    let outcome: Outcome = "try again";
    while (outcome === "try again" && !isStopped()) {
      // The same request may be on its way twice: a proxy or an impatient client repeats it.
      const copies = random.chance(MISCHIEF.twins) ? 2 : 1;
      const outcomes = await Promise.all(Array.from({ length: copies }, () => this.#ask(order)));
      outcome = outcomes.find((each) => each !== "try again") ?? "try again";
      if (outcome === "try again") await this.#pause();
    }
    if (outcome === "acknowledged" && random.chance(MISCHIEF.again)) await this.#ask(order);
    // Nothing left: give something back, so that the next one competes for it.
    if (outcome === "refused") await this.#giveBack(isStopped);
  }

  async #ask(order: Order): Promise<Outcome> {
    const { key, size } = order;
    const body = reservationBody(size);
    const wasAcknowledged = order.acknowledged !== undefined;
    const reply = await this.#answerTo(order, (client, mischief) =>
      client.request("POST", PATH.reservations, { key, body, ...mischief }),
    );
    if (reply === undefined) return "try again";
    if (reply.status === 200 || reply.status === 201) return this.#acknowledge(order, reply);
    if (reply.status === 409 && order.acknowledged === undefined) return "refused";
    // A refusal binds no key: of two copies sent at once, one may be refused before the other is granted, and be told so
    // after it. The broker's own record must say that it was in this order.
    if (reply.status === 409 && !wasAcknowledged) return this.#checkOrderOf(reply, order);
    return this.#judge(reply, `asking for ${order.key}`);
  }

  async #giveBack(isStopped: () => boolean): Promise<void> {
    const held = this.#own.filter(
      ({ acknowledged, release }) => acknowledged !== undefined && release === "not asked",
    );
    const order = this.#deps.random.pick(held);
    if (order?.acknowledged === undefined) return;
    order.release = "asked";
    const path = PATH.reservation(order.acknowledged.id);
    while (order.release === "asked" && !isStopped()) {
      const reply = await this.#answerTo(order, (client, mischief) =>
        client.request("DELETE", path, mischief),
      );
      if (reply?.status === 200) order.release = "acknowledged";
      else if (reply !== undefined) this.#judge(reply, `releasing ${order.key}`);
      if (order.release === "asked") await this.#pause();
    }
  }

  async #checkOrderOf({ body }: BrokerReply, order: Order): Promise<Outcome> {
    const refusal = validate(errorSchema, body);
    const id = (refusal.ok ? refusal.value.decisionID : undefined) ?? "no decision";
    const refusedAt = await this.#timeOf(id, order);
    const grantedAt = Date.parse(order.acknowledged?.reservedAt ?? "");
    if (refusedAt <= grantedAt) return "acknowledged";
    return this.#complain(`${order.key}: granted at ${grantedAt}, refused by ${id} at ${refusedAt}`);
  }

  /** When a decision was taken, by the broker's record; not a number when there is none. */
  async #timeOf(decision: string, order: Order): Promise<number> {
    let reply: BrokerReply | undefined;
    for (let tries = 0; tries < MOST_TRIES && reply?.status !== 200; tries++) {
      if (tries > 0) await this.#pause();
      reply = await this.#answerTo(order, (client) => client.request("GET", PATH.decision(decision), {}));
    }
    const read = validate(decisionSchema, reply?.body);
    return read.ok ? Date.parse(read.value.at) : Number.NaN;
  }

  /** Undefined: nobody answered. */
  #answerTo(order: Order, call: Call): Promise<BrokerReply | undefined> {
    const { gate, client } = this.#deps;
    return gate.pass(async () => {
      try {
        return await call(client, this.#mischief());
      } catch {
        order.unanswered++;
        return undefined;
      }
    });
  }

  #acknowledge(order: Order, { status, body, headers }: BrokerReply): Outcome {
    const read = validate(reservationSchema, body);
    if (!read.ok) return this.#complain(`${order.key}: no reservation in the reply: ${JSON.stringify(body)}`);
    const { id, targetClusterID: provider, status: state } = read.value;
    const isReplay = headers[HEADER.idempotencyReplayed.toLowerCase()] === "true";
    if (isReplay === (status === 201)) this.#complain(`${order.key}: ${status}, replayed: ${isReplay}`);
    if (status === 201) order.created++;
    if (order.created > 1) this.#complain(`${order.key} of ${order.requester} was made twice`);
    const known = order.acknowledged ?? { id, provider, reservedAt: state.reservedAt ?? "" };
    if (known.id !== id || known.provider !== provider || !isOrdered(order, read.value))
      this.#complain(`${order.key} was ${known.id} at ${known.provider}, and is ${id} at ${provider}`);
    order.acknowledged = known;
    this.#deps.heard();
    return "acknowledged";
  }

  /** Too busy, or too often: said so politely, and nothing was booked. Anything else is wrong. */
  #judge({ status, body }: BrokerReply, doing: string): Outcome {
    if (status === 429 || status === 503) return "try again";
    return this.#complain(`${doing}: ${status} ${JSON.stringify(body)}`);
  }

  #complain(problem: string): Outcome {
    this.#deps.problems.push(problem);
    return "refused";
  }

  #mischief(): Pick<CallOptions, "hangUp"> {
    const { random } = this.#deps;
    if (random.chance(MISCHIEF.hangUpMidway)) return { hangUp: "midway" };
    if (random.chance(MISCHIEF.hangUpAfter))
      return { hangUp: { afterMs: random.below(LONGEST_PATIENCE_MS) } };
    return {};
  }

  #pause(): Promise<void> {
    return sleep(this.#deps.random.between(1, LONGEST_PAUSE_MS));
  }
}

function isOrdered({ requester, key, size }: Order, reservation: ReservationDTO): boolean {
  const { requestedResources: held, requesterID, key: heldKey } = reservation;
  return (
    requesterID === requester &&
    heldKey === key &&
    held.cpu === String(size.cpu) &&
    held.memory === `${size.memoryGi}Gi`
  );
}
