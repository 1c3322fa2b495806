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
import { newTrackedRequest, type TrackedRequest } from "./tracked-request.ts";

/** How often a client misbehaves. */
const MISBEHAVIOUR = { hangUpMidway: 0.05, hangUpAfter: 0.15, twins: 0.15, again: 0.1 };
const MAX_CLIENT_WAIT_MS = 25;
const LONGEST_PAUSE_MS = 40;
/** Enough for a broker to be killed and to come back, a minute at least. */
const MOST_TRIES = 3000;
const LARGEST = { cpu: 4, memoryGi: 8 };

export interface LoadClientDeps {
  readonly client: BrokerClient;
  readonly gate: Gate;
  readonly random: SeededRandom;
  readonly requests: TrackedRequest[];
  readonly problems: string[];
  /** Called when an order is acknowledged. */
  readonly onAcknowledged: () => void;
}

type Call = (client: BrokerClient, mischief: Pick<CallOptions, "hangUp">) => Promise<BrokerReply>;
type Outcome = "acknowledged" | "refused" | "try again";

/** A load client: repeats each request with its key until it gets an answer. */
export class LoadClient {
  readonly #deps: LoadClientDeps;
  readonly #own: TrackedRequest[] = [];

  constructor(deps: LoadClientDeps) {
    this.#deps = deps;
  }

  async reserve(isStopped: () => boolean): Promise<void> {
    const { client, random, requests } = this.#deps;
    const size = { cpu: random.between(1, LARGEST.cpu), memoryGi: random.between(1, LARGEST.memoryGi) };
    const request = newTrackedRequest(client.clusterId, `key-${this.#own.length}`, size);
    this.#own.push(request);
    requests.push(request);
    let outcome: Outcome = "try again";
    while (outcome === "try again" && !isStopped()) {
      // The same request may be on its way twice: a proxy or an impatient client repeats it.
      const copies = random.chance(MISBEHAVIOUR.twins) ? 2 : 1;
      const outcomes = await Promise.all(Array.from({ length: copies }, () => this.#post(request)));
      outcome = outcomes.find((each) => each !== "try again") ?? "try again";
      if (outcome === "try again") await this.#pause();
    }
    if (outcome === "acknowledged" && random.chance(MISBEHAVIOUR.again)) await this.#post(request);
    // Nothing left: give something back, so that the next one competes for it.
    if (outcome === "refused") await this.#releaseOne(isStopped);
  }

  async #post(order: TrackedRequest): Promise<Outcome> {
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
    return this.#checkReply(reply, `asking for ${order.key}`);
  }

  async #releaseOne(isStopped: () => boolean): Promise<void> {
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
      else if (reply !== undefined) this.#checkReply(reply, `releasing ${order.key}`);
      if (order.release === "asked") await this.#pause();
    }
  }

  async #checkOrderOf({ body }: BrokerReply, request: TrackedRequest): Promise<Outcome> {
    const refusal = validate(errorSchema, body);
    const id = (refusal.ok ? refusal.value.decisionID : undefined) ?? "no decision";
    const refusedAt = await this.#timeOf(id, request);
    const grantedAt = Date.parse(request.acknowledged?.reservedAt ?? "");
    if (refusedAt <= grantedAt) return "acknowledged";
    return this.#complain(`${request.key}: granted at ${grantedAt}, refused by ${id} at ${refusedAt}`);
  }

  /** When a decision was taken, by the broker's record; not a number when there is none. */
  async #timeOf(decision: string, request: TrackedRequest): Promise<number> {
    let reply: BrokerReply | undefined;
    for (let tries = 0; tries < MOST_TRIES && reply?.status !== 200; tries++) {
      if (tries > 0) await this.#pause();
      reply = await this.#answerTo(request, (client) => client.request("GET", PATH.decision(decision), {}));
    }
    const read = validate(decisionSchema, reply?.body);
    return read.ok ? Date.parse(read.value.at) : Number.NaN;
  }

  /** Undefined: nobody answered. */
  #answerTo(request: TrackedRequest, call: Call): Promise<BrokerReply | undefined> {
    const { gate, client } = this.#deps;
    return gate.pass(async () => {
      try {
        return await call(client, this.#misbehaviour());
      } catch {
        request.unanswered++;
        return undefined;
      }
    });
  }

  #acknowledge(request: TrackedRequest, { status, body, headers }: BrokerReply): Outcome {
    const read = validate(reservationSchema, body);
    if (!read.ok)
      return this.#complain(`${request.key}: no reservation in the reply: ${JSON.stringify(body)}`);
    const { id, targetClusterID: provider, status: state } = read.value;
    const isReplay = headers[HEADER.idempotencyReplayed.toLowerCase()] === "true";
    if (isReplay === (status === 201)) this.#complain(`${request.key}: ${status}, replayed: ${isReplay}`);
    if (status === 201) request.created++;
    if (request.created > 1) this.#complain(`${request.key} of ${request.requester} was made twice`);
    const known = request.acknowledged ?? { id, provider, reservedAt: state.reservedAt ?? "" };
    if (known.id !== id || known.provider !== provider || !isOrdered(request, read.value))
      this.#complain(`${request.key} was ${known.id} at ${known.provider}, and is ${id} at ${provider}`);
    request.acknowledged = known;
    this.#deps.onAcknowledged();
    return "acknowledged";
  }

  /** Too busy, or too often: said so politely, and nothing was booked. Anything else is wrong. */
  #checkReply({ status, body }: BrokerReply, doing: string): Outcome {
    if (status === 429 || status === 503) return "try again";
    return this.#complain(`${doing}: ${status} ${JSON.stringify(body)}`);
  }

  #complain(problem: string): Outcome {
    this.#deps.problems.push(problem);
    return "refused";
  }

  #misbehaviour(): Pick<CallOptions, "hangUp"> {
    const { random } = this.#deps;
    if (random.chance(MISBEHAVIOUR.hangUpMidway)) return { hangUp: "midway" };
    if (random.chance(MISBEHAVIOUR.hangUpAfter))
      return { hangUp: { afterMs: random.below(MAX_CLIENT_WAIT_MS) } };
    return {};
  }

  #pause(): Promise<void> {
    return sleep(this.#deps.random.between(1, LONGEST_PAUSE_MS));
  }
}

function isOrdered({ requester, key, size }: TrackedRequest, reservation: ReservationDTO): boolean {
  const { requestedResources: held, requesterID, key: heldKey } = reservation;
  return (
    requesterID === requester &&
    heldKey === key &&
    held.cpu === String(size.cpu) &&
    held.memory === `${size.memoryGi}Gi`
  );
}
